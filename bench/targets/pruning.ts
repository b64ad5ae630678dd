import type { Db } from '@quittance/shared/db';
import { newAccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { pruneOutboxStep } from '@quittance/shared/outbox';
import { pruneOldEvents } from '@quittance/webhooks/operations/prune';
import type { Benchmark, Sample } from '../benchmark.ts';
import { drive } from '../drive.ts';
import { processesOf } from '../lab.ts';
import { openServiceDb } from '../yardsticks/ledger-accounts.ts';
import { storeOldEvents, storeOldInbox, storeOldOutbox } from './stored-months.ts';

const CLIENTS = 32;
const SECONDS = 4;
const OLD_ROWS = 20_000;

/** Each invoice leaves an outbox row, an inbox row of webhooks and an event. */
export const pruning: Benchmark = {
  name: 'pruning',
  what: 'Old rows that are deleted in a second while invoices are made as fast as 32 clients can: events of the outbox, events of the inbox, and events of the event log with a delivery each, all three at once. The figure is the slowest of them.',
  yardstick:
    'new rows of each kind in a second, which are the invoices that the same clients make when nothing is pruned',
  target: { atLeast: 1 },
  unit: 'rows/s',
  async setUp(lab) {
    const quittance = await lab.quittance();
    const shop = await quittance.merchant();
    const invoices = openServiceDb(quittance, 'invoices', 2);
    const webhooks = openServiceDb(quittance, 'webhooks', 2);
    const post = async () => {
      const { status } = await shop.post('/api/invoices', { asset: 'ETH', amount: 25 });
      if (status !== 201) throw new Error(`POST /api/invoices answers ${status}`);
    };
    let round = 0;
    async function ours(): Promise<Sample> {
      round += 1;
      const account = newAccountId(new Date());
      await storeOldOutbox(quittance, round, OLD_ROWS);
      await storeOldInbox(quittance, round, OLD_ROWS);
      await storeOldEvents(quittance, account, OLD_ROWS);
      const left = {
        outbox: () => countOf(quittance.db, `invoices.outbox where id like 'evt_00%'`),
        inbox: () => countOf(quittance.db, `webhooks.inbox where event_id like 'evt_00%'`),
        events: () => countOf(quittance.db, `webhooks.events where account_id = '${account}'`),
      };
      const rate = async (kind: keyof typeof left, prune: () => Promise<unknown>) => {
        const begun = performance.now();
        // A worker of the service may have deleted what a step was about to.
        do await prune();
        while ((await left[kind]()) > 0);
        return (OLD_ROWS * 1_000) / (performance.now() - begun);
      };
      const logger = createLogger('bench', 'error');
      const [load, outbox, inbox, events] = await Promise.all([
        drive(post, CLIENTS, SECONDS),
        rate('outbox', () => untilNone(() => pruneOutboxStep(invoices))),
        rate('inbox', () =>
          untilNone(async () => (await webhooks.one<{ n: number }>('select prune_inbox(500) as n')).n),
        ),
        rate('events', () => pruneOldEvents({ db: webhooks, logger })),
      ]);
      return {
        figure: Math.min(outbox, inbox, events),
        operations: 3 * OLD_ROWS,
        more: {
          ...{ 'outbox rows/s': outbox, 'inbox rows/s': inbox, 'events/s': events },
          'invoices/s meanwhile': load.figure,
        },
      };
    }
    return {
      ours,
      theirs: () => drive(post, CLIENTS, SECONDS),
      processes: processesOf(quittance),
      async close() {
        await invoices.close();
        await webhooks.close();
      },
    };
  },
};

async function untilNone(step: () => Promise<number>): Promise<void> {
  while ((await step()) > 0);
}

const countOf = async (db: Pick<Db, 'one'>, rows: string): Promise<number> =>
  (await db.one<{ n: number }>(`select count(*)::int as n from ${rows}`)).n;
