import type { Queryable } from '@quittance/shared/db';
import { receivers, type Service } from '@quittance/shared/events';
import { isMerchantKind } from './merchant-kinds.ts';

/** Something that happened, and who wrote it down. */
export type Moment = { at: Date; where: Service | 'chain' | 'merchant'; what: string };

type SentEvent = {
  id: string;
  kind: string;
  requestId: string | null;
  createdAt: Date;
  sentAt: Date | null;
};

export type Told = { sender: 'invoices' | 'payouts' | 'ledger'; where: string; values: readonly unknown[] };

/**
 * The events of a service about one thing, when their receivers processed them or failed to, and each attempt to deliver
 * them to the merchant's endpoints.
 * @param where a condition on the sender's outbox `o`
 */
export async function eventMoments(db: Queryable, { sender, where, values }: Told): Promise<Moment[]> {
  const events = await db.rows<SentEvent>(
    `select id, kind, request_id as "requestId", created_at as "createdAt", sent_at as "sentAt"
     from ${sender}.outbox o where ${where} order by seq`,
    values,
  );
  const kindOf = new Map(events.map(({ id, kind }) => [id, kind]));
  const moments: Moment[] = events.flatMap(({ id, kind, requestId, createdAt, sentAt }) => [
    {
      at: createdAt,
      where: sender,
      what: `says ${kind} (${id}${requestId === null ? '' : `, request ${requestId}`})${sentAt === null ? ', NOT SENT yet' : ''}`,
    },
  ]);
  const ids = [...kindOf.keys()];
  for (const receiver of receivers) {
    const taken = await db.rows<{ id: string; at: Date }>(
      `select event_id as id, received_at as at from ${receiver}.inbox where event_id = any($1::text[])`,
      [ids],
    );
    const deadLetters = await db.rows<{ id: string; at: Date; failure: string }>(
      `select event_id as id, failed_at as at, failure from ${receiver}.dead_letters where event_id = any($1::text[])`,
      [ids],
    );
    moments.push(
      ...taken.map(({ id, at }) => ({ at, where: receiver, what: `processes ${kindOf.get(id)} (${id})` })),
      ...deadLetters.map(({ id, at, failure }) => ({
        at,
        where: receiver,
        what: `DEAD LETTER: ${kindOf.get(id)} (${id}): ${failure}`,
      })),
    );
  }
  const told = events.filter(({ kind }) => isMerchantKind(kind)).map(({ id }) => id);
  return [...moments, ...(await deliveryMoments(db, told))];
}

type Delivery = {
  event: string;
  kind: string;
  endpoint: string;
  url: string;
  state: string;
  dueAt: Date;
  number: number | null;
  startedAt: Date | null;
  ms: number | null;
  status: number | null;
  failure: string | null;
};

async function deliveryMoments(db: Queryable, events: readonly string[]): Promise<Moment[]> {
  const rows = await db.rows<Delivery>(
    `select ev.id as event, ev.kind, p.id as endpoint, p.url, d.state, d.due_at as "dueAt", a.number,
       a.started_at as "startedAt", a.ms, a.status, a.failure
     from webhooks.events ev
     join webhooks.endpoints p on p.account_id = ev.account_id
     join webhooks.deliveries d on d.endpoint_key = p.key and d.sequence = ev.sequence
     left join webhooks.attempts a on a.endpoint_key = d.endpoint_key and a.sequence = d.sequence
     where ev.id = any($1::text[]) order by ev.sequence, p.key, a.number`,
    [events],
  );
  const moments: Moment[] = [];
  const seen = new Set<string>();
  for (const row of rows) {
    const delivery = `dlv_${row.endpoint.slice('whe_'.length)}${row.event.slice('evt_'.length)}`;
    if (row.startedAt !== null) {
      const came = row.failure ?? `answered ${row.status}`;
      moments.push({
        at: row.startedAt,
        where: 'webhooks',
        what: `posts ${row.kind} to ${hostOf(row.url)}, attempt ${row.number}: ${came} after ${row.ms} ms (${delivery})`,
      });
    }
    const open = row.state === 'waiting' || row.state === 'sending' || row.state === 'exhausted';
    if (open && !seen.has(delivery)) {
      const what =
        row.state === 'exhausted' ? 'was GIVEN UP' : `is ${row.state}, due ${row.dueAt.toISOString()}`;
      moments.push({
        at: row.dueAt,
        where: 'webhooks',
        what: `${row.kind} to ${hostOf(row.url)} ${what} (${delivery})`,
      });
    }
    seen.add(delivery);
  }
  return moments;
}

/** Paths of webhooks may hold secrets. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'an endpoint');

/** In the order of time; what happened at one moment stays in the order it was found. */
export const inOrder = (moments: readonly Moment[]): Moment[] =>
  moments.toSorted((a, b) => a.at.getTime() - b.at.getTime());

export const happened = (at: Date | null, where: Moment['where'], what: string): Moment[] =>
  at === null ? [] : [{ at, where, what }];
