import type { Bus } from '@quittance/shared/bus';
import type { Db } from '@quittance/shared/db';
import type { Mutant, Wiring } from '../mutant.ts';
import { rewrite } from './statements.ts';

/** What is done in a process of payouts when the ledger has placed a hold. */
function whenPlaced(wiring: Wiring, work: (db: Db, payoutId: string) => Promise<void>): void {
  // A process gets its database just before its bus.
  let newest: Db | undefined;
  wiring.db.payouts = (db) => {
    newest = db;
    return db;
  };
  wiring.bus.payouts = (bus): Bus => {
    const db = newest;
    return {
      ...bus,
      async ask(command, request) {
        const asked = await bus.ask(command, request);
        const isPlaced = asked.known && (asked.reply as { outcome?: string }).outcome === 'placed';
        if (isPlaced && db !== undefined && 'payout_id' in request) await work(db, request.payout_id);
        return asked;
      },
    };
  };
}

/** How several payouts are requested at once. */
export const batchMutants: readonly Mutant[] = [
  {
    name: 'all-reserved-one-by-one',
    what: 'each line of a batch of all or nothing is reserved as soon as its own hold is placed',
    shows: /lines of a batch of all or nothing have a payout/,
    apply(wiring) {
      whenPlaced(wiring, async (db, id) => {
        await db.rows(
          `update payouts set status = 'reserved', version = version + 1
           where id = $1 and status = 'requested' and batch_id is not null`,
          [id],
        );
      });
      rewrite(wiring, 'payouts.payout_batches_move_payouts', [
        `status = 'requested'`,
        `(status = 'requested' or ($2 = 'reserved' and status = 'reserved'))`,
      ]);
    },
  },
  {
    name: 'batch-key-not-stored',
    what: 'the Idempotency-Key of a batch is not stored',
    shows: /^paid 2 times|payouts for one order/,
    apply(wiring) {
      wiring.sql.set('payouts.idempotency_insert', (text) =>
        text.replace(
          /values \(\$1, \$2, \$3, \$4, \$5, \$6\)/,
          `select $1::text, $2::text, $3::text, $4::text, $5::int, $6::json where $4::text not like 'pba%'`,
        ),
      );
    },
  },
  {
    name: 'voided-line-is-paid',
    what: 'a line of a batch whose hold nobody has confirmed is voided in the ledger and paid all the same',
    shows: /^refused, and its payout is|the ledger has a dead letter: hold\.settle/,
    apply: (wiring) =>
      rewrite(wiring, 'payouts.payout_batches_move_payouts', [
        'set status = $2',
        `set status = case when $2 = 'voided' then 'reserved' else $2 end`,
      ]),
  },
];
