import { CANCELLED, paidStatuses } from '@quittance/payouts/domain/states';
import { failPayout } from '@quittance/payouts/operations/transactions';
import { findPayout } from '@quittance/payouts/store/payouts';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import { appendToOutbox } from '@quittance/shared/outbox';
import type { Mutant } from '../mutant.ts';
import { hookedDb, rewrite } from './statements.ts';

/** Between reading a payout and cancelling it. */
const DECIDES_AFTER_MS = 300;

/** Does `instead` where a request to cancel is stored. */
const atTheRequest =
  (instead: (db: Db, id: PayoutId) => Promise<void>) =>
  (db: Db): Db =>
    hookedDb(db, async ({ sql, values: [id] }, go) => {
      if (sql.name !== 'payouts_request_cancel') return await go();
      await instead(db, id as PayoutId);
      return [];
    });

/** How a payout is cancelled. */
export const cancelMutants: readonly Mutant[] = [
  {
    name: 'cancelled-by-the-request',
    what: 'the request cancels what it has read as not signed, and does not leave that to the chain worker',
    shows: /^cancelled, and paid/,
    apply(wiring) {
      // A process gets its database just before its clock.
      let newest: { clock?: Clock } = {};
      wiring.clock.payouts = (clock) => {
        newest.clock = clock;
        return clock;
      };
      wiring.db.payouts = (given) => {
        const own: { clock?: Clock } = {};
        newest = own;
        return cancelling(given, own);
      };
      const cancelling = (given: Db, own: { clock?: Clock }) =>
        atTheRequest(async (db, id) => {
          const read = await findPayout(db, id);
          await own.clock?.sleep?.(DECIDES_AFTER_MS);
          if (read?.status !== 'reserved') return;
          const failure = { failedReason: CANCELLED, feeKept: false };
          await db.transaction((trx) => failPayout(trx, id, ['reserved', ...paidStatuses], failure));
        })(given);
    },
  },
  {
    name: 'cancelled-when-signed',
    what: 'a payout is cancelled whether it is signed or not',
    shows: /^cancelled, and paid/,
    apply(wiring) {
      const isOpen = `status in ('reserved', 'signed', 'broadcast') and`;
      rewrite(wiring, 'payouts.payouts_request_cancel', [
        `status in ('awaiting_approval', 'reserved') and`,
        isOpen,
      ]);
      rewrite(wiring, 'payouts.payouts_cancel_requested', [`status = 'reserved' and`, isOpen]);
      rewrite(wiring, 'payouts.payouts_move', [
        'status = any($2)',
        `(status = any($2) or ($5 = '${CANCELLED}' and status in ('signed', 'broadcast')))`,
      ]);
    },
  },
  {
    name: 'returned-at-the-request',
    what: 'the money goes back when a cancellation is requested, and the chain worker signs what it finds all the same',
    shows: /the ledger has a dead letter: hold\.settle/,
    apply(wiring) {
      wiring.db.payouts = atTheRequest(async (db, id) => {
        await db.transaction(async (trx) => {
          const payout = await findPayout(trx, id);
          if (payout?.status !== 'reserved') return;
          const { account, asset, amount, networkFee } = payout;
          const payload = {
            payout_id: id,
            account_id: account,
            asset,
            amount: amount.toString(),
            network_fee: networkFee.toString(),
            tx_hash: null,
            fee_kept: false,
          };
          await appendToOutbox(trx, [{ kind: 'hold.release', payload }]);
        });
      });
    },
  },
];
