import { type EventKind, events, type Service } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import type { Quittance } from '@quittance/testkit/quittance';

/** Events of one kind on their way to one receiver. */
export type Route = { kind: EventKind; to: Service };

export const nameOf = ({ kind, to }: Route): string => `${kind} for ${to}`;

/** Events that only NATS has, and how often each had been sent. */
export type OnlyOnTheBus = { route: Route; sends: ReadonlyMap<string, number> };

const IN_FLIGHT_WITHIN_MS = 20_000;
const SIGNED_WITHIN_MS = 60_000;

/**
 * Waits until NATS has acknowledged events of each route and no service has processed them. Their receivers have to be
 * dead, and not merely stopped: a stopped one processes what it was handed when it continues.
 */
export const untilInFlight = (
  { db }: Pick<Quittance, 'db'>,
  routes: readonly Route[],
): Promise<OnlyOnTheBus[]> =>
  eventually(async () => {
    const found: OnlyOnTheBus[] = [];
    for (const route of routes) {
      const { kind, to } = route;
      const rows = await db.rows<{ id: string; sends: number }>(
        `select id, sends from ${events[kind].from}.outbox o where kind = $1 and sent_at is not null
           and not exists (select 1 from ${to}.inbox i where i.event_id = o.id)`,
        [kind],
      );
      if (rows.length === 0) throw new Error(`no ${nameOf(route)} is under way`);
      found.push({ route, sends: new Map(rows.map(({ id, sends }) => [id, sends])) });
    }
    return found;
  }, IN_FLIGHT_WITHIN_MS);

/** Waits for a payout that is signed and has not ended. Once the ledger is away nothing more is signed, so nothing else would end. */
export const untilSigned = ({ db }: Pick<Quittance, 'db'>): Promise<void> =>
  eventually(
    async () => {
      const open = await db.rows(
        "select 1 from payouts.payouts where status in ('signed', 'broadcast') limit 1",
      );
      if (open.length === 0) throw new Error('no payout is signed');
    },
    SIGNED_WITHIN_MS,
    20,
  );

/** How many of them NATS had surely lost: they came only because their sender sent them once more. */
export async function sentAgain(
  { db }: Pick<Quittance, 'db'>,
  { route, sends }: OnlyOnTheBus,
): Promise<number> {
  const rows = await db.rows<{ id: string; sends: number }>(
    `select id, sends from ${events[route.kind].from}.outbox where id = any($1::text[])`,
    [[...sends.keys()]],
  );
  return rows.filter((row) => row.sends > (sends.get(row.id) ?? 0)).length;
}
