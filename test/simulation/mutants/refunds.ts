import type { Mutant } from '../mutant.ts';
import { rewrite } from './statements.ts';

/** How an invoice is paid back. */
export const refundMutants: readonly Mutant[] = [
  {
    name: 'refund-decided-before-the-lock',
    what: 'what is left of an invoice is read before its lock is taken, and not once more behind it',
    shows: /^I4: the refunds of invoice/,
    apply: (wiring) =>
      rewrite(wiring, 'payouts.refunds_insert_within', [/<= (?=\$\d+::numeric)/, '<= 1e40 + ']),
  },
  {
    name: 'claimed-in-each-tab',
    what: 'a claim does not look whether another one came first, and nothing else keeps a refund from having two payouts',
    shows: /^a refund is paid 2 times/,
    apply(wiring) {
      rewrite(wiring, 'payouts.refunds_claim', [
        `state = 'claimable'`,
        `state in ('claimable', 'pending', 'completed')`,
      ]);
      rewrite(wiring, 'payouts.refunds_by_claim', [
        'refunds.state',
        `case refunds.state when 'pending' then 'claimable' else refunds.state end as state`,
      ]);
      rewrite(wiring, 'payouts.payouts_insert', [/refund_id(?=, invoice_id[^()]* from)/, 'null::text']);
      // The ledger holds nothing for a second payout of the link.
      rewrite(wiring, 'ledger.hold_proofs_replace', [/and h\.state in \([^)]*\)/, '']);
    },
  },
  {
    name: 'failed-refund-stays-pending',
    what: 'a refund whose payout has failed stays as it is, and cannot be claimed or asked for again',
    shows: /^does not end: a refund is pending/,
    apply: (wiring) =>
      rewrite(wiring, 'payouts.refunds_lock_pending', [
        'where r.state',
        `where p.status <> 'failed' and r.state`,
      ]),
  },
];
