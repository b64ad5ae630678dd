import type { Answer } from '@quittance/shared/http-answers';
import type { Mutant, Wiring } from '../mutant.ts';
import { rewrite } from './statements.ts';

/** The rows of an invoice that replaces one with its id. */
const REPLACES = ['asset', 'chain', 'address', 'amount_due', 'derivation_index']
  .map((column) => `${column} = excluded.${column}`)
  .join(', ');

/** An invoice or an address that there is already is no reason to refuse another one. */
function allowSecond(wiring: Wiring, statement: string, onInvoice: string): void {
  rewrite(
    wiring,
    statement,
    [/(?<=from given)(?=\),\s+address as)/, ` ${onInvoice}`],
    [/(?<=balance_check_at\s+from given)(?=\))/, ' on conflict do nothing'],
  );
}

/** How payers choose an asset and follow links. */
export const payerMutants: readonly Mutant[] = [
  {
    name: 'chosen-in-each-tab',
    what: 'a choice does not look whether another one came first: it gives the invoice another asset and address',
    shows: /^one invoice was shown as|^an asset was chosen 2 times/,
    apply(wiring) {
      const terms = 'id, account_id, assets, currency, amount_fiat';
      rewrite(
        wiring,
        'invoices.unchosen_invoices_take',
        ['delete from unchosen_invoices', `select ${terms} from unchosen_invoices`],
        [`returning ${terms}`, ''],
        [/(?<=from taken)/, ' on conflict (invoice_id) do update set asset = excluded.asset'],
      );
      allowSecond(wiring, 'invoices.invoices_insert_chosen', `on conflict (id) do update set ${REPLACES}`);
    },
  },
  {
    name: 'chosen-at-another-rate',
    what: 'the amount due of a chosen asset is that of two dollars for each dollar of the price',
    shows: /^an invoice asks for .*, and its price is/,
    apply: (wiring) =>
      rewrite(wiring, 'invoices.invoices_insert_chosen', [
        /(?<=select account_id, usd_rate, [^()]*)\bamount_due\b/,
        'amount_due * 2',
      ]),
  },
  {
    name: 'one-address-for-a-link',
    what: 'each payment of a link has the address of the first one',
    shows: /^\d invoices ask for payments to/,
    apply(wiring) {
      allowSecond(wiring, 'invoices.invoices_insert', '');
      const first = `coalesce((
        select i.address from invoices i where i.payment_link_id = given.payment_link_id order by i.id limit 1), given.address)`;
      rewrite(wiring, 'invoices.invoices_insert', [
        /(?<=select account_id, usd_rate, [^()]*)\baddress\b/,
        first,
      ]);
    },
  },
  {
    name: 'one-invoice-for-a-link',
    what: 'a process keeps the payment that was begun last by each link, and shows it to the next payer',
    shows: /payers of a link have one invoice/,
    apply(wiring) {
      wiring.routes.set('POST /link/:id', (real) => {
        const begun = new Map<string, Answer>();
        return async (call) => {
          const link = call.params?.['id'] ?? '';
          const answer = begun.get(link) ?? (await real(call));
          if (answer.status === 303) begun.set(link, answer);
          return answer;
        };
      });
    },
  },
];
