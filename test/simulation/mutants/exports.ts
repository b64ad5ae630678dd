import type { Mutant } from '../mutant.ts';
import { rewrite, rewriteFile } from './statements.ts';

/** What a merchant exports. */
export const exportMutants: readonly Mutant[] = [
  {
    name: 'payouts-exported-without-fee',
    what: 'the file of payouts leaves out their network fees',
    shows: /^the file payouts of/,
    apply: (wiring) =>
      rewriteFile(wiring, 'payouts', [/\bpayouts\.network_fee\b/, '0::numeric as network_fee']),
  },
  {
    name: 'unresolved-exported-as-credited',
    what: 'the file of invoices takes all that was paid for what was credited',
    shows: /^the file invoices of/,
    apply: (wiring) =>
      rewriteFile(wiring, 'invoices', [
        /\bstatus\b(?=,\s+pending_amount)/,
        `case when paid_amount > 0 then 'paid' else status end as status`,
      ]),
  },
  {
    name: 'statement-without-releases',
    what: 'a statement leaves out what payouts that came to nothing gave back',
    shows: /^the file statement of/,
    apply: (wiring) =>
      rewriteFile(wiring, 'statement', [
        'where t.account_id = $1',
        `where t.kind <> 'release' and t.account_id = $1`,
      ]),
  },
  {
    name: 'refund-booked-as-payout',
    what: 'the ledger does not store the invoice that a payout refunds',
    shows: /^the file balance-transactions of/,
    apply: (wiring) => rewrite(wiring, 'ledger.holds_decide', ['o.invoice_id,', 'null::text as invoice_id,']),
  },
];
