import { anEventOf } from '@quittance/testkit/builders';
import type { Bus } from '../src/bus.ts';
import type { Db } from '../src/db.ts';
import { type EventKind, type EventOf, events, type Service } from '../src/events.ts';

export const DAY = 24 * 3_600_000;

/** A bus in this process that hands requests to whoever answers them, unless that service is `away`. */
export function aBusOfRequests(): { bus: Bus; away: Set<Service> } {
  const away = new Set<Service>();
  const answers = new Map<string, (body: unknown) => Promise<unknown>>();
  const bus = {
    connected: () => true,
    answer: (subject, handle) => void answers.set(subject, handle),
    async request(subject, request, reply) {
      const handle = answers.get(subject);
      if (handle === undefined || away.has(subject.split('.')[1] as Service))
        return { known: false, reason: 'TIMEOUT' };
      return { known: true, reply: reply.parse(await handle(JSON.parse(JSON.stringify(request)))) };
    },
  } as Partial<Bus> as Bus;
  return { bus, away };
}

const payloads = {
  'deposit.settled': {
    ...{ deposit_id: 'dep', account_id: 'acc', invoice_id: 'inv', asset: 'ETH', amount: '1', address: '0x1' },
    ...{ derivation_index: 1, outpoint: 'o', tx_hash: null, block_height: 1, block_hash: '0x1' },
    disposition: 'credit',
  },
  'asset.resumed': { asset: 'ETH', halt: '1' },
} satisfies Partial<Record<EventKind, object>>;

type SentKind = keyof typeof payloads;
export type Sent = EventOf<SentKind>;

/** An event as its sender's outbox has it, confirmed by all its receivers or by none. */
export async function storeSent(
  admin: Db,
  daysAgo: number,
  { kind = 'deposit.settled', confirmed = true }: { kind?: SentKind; confirmed?: boolean } = {},
): Promise<Sent> {
  const at = new Date(Date.now() - daysAgo * DAY);
  const { from, to } = events[kind];
  const event = anEventOf(kind, payloads[kind], { at }) as Sent;
  await admin.rows(
    `insert into ${from}.outbox (id, kind, payload, created_at, sent_at, sends, confirmed_at, confirmed_by)
     values ($1, $2, $3, $4, $4, 1, case when $5 then $4::timestamptz end, case when $5 then $6::text[] else '{}' end)`,
    [event.id, kind, JSON.stringify(event.payload), at, confirmed, to],
  );
  return event;
}
