import type { TruePayment } from './chain.ts';
import type { Environment } from './environment.ts';
import type { Refund } from './refund-client.ts';

type Row = {
  id: string;
  external_id: string;
  state: string;
  asset: string;
  amount: string;
  claimed_late: boolean;
  told: string | null;
};

const ROWS = `
  select r.id, r.external_id, r.state, r.asset, r.amount::text as amount,
    exists (select from payouts.payouts p where p.refund_id = r.id and p.created_at > r.expires_at) as claimed_late,
    i.status as told
  from payouts.refunds r left join invoices.refunds i on i.id = r.id`;

const PAID = `
  select i.id, (i.paid_amount + i.reversed_amount)::text as paid from invoices.invoices i`;

/**
 * Each wish is one refund at most, which is paid once at most, what was answered, and no more than was paid for its
 * invoice. That the shares of all that may still be paid fit as well is an invariant of the ledger and its records.
 */
export function brokenRefunds(
  { database }: Environment,
  refunds: readonly Refund[],
  truth: readonly TruePayment[],
): string[] {
  if (refunds.length === 0) return [];
  const found: string[] = [];
  const rows = database.run('payouts', ROWS, [], false) as Row[];
  const refunded = new Map<string, bigint>();
  for (const { externalId, answers, recipients, of, linkIsCancelled } of refunds) {
    const said = (what: string) => found.push(`${what}: ${externalId} (${answers.join(', ')})`);
    const made = rows.filter((row) => row.external_id === externalId && row.state !== 'voided');
    const paid = truth.filter(({ to }) => recipients.includes(to));
    const invoice = 'invoice' in of ? of.invoice : undefined;
    if (invoice !== undefined)
      for (const { amount } of paid) refunded.set(invoice, (refunded.get(invoice) ?? 0n) + amount);
    const [row] = made;
    if (paid.length > 1) said(`a refund is paid ${paid.length} times`);
    if (made.length > 1) said(`${made.length} refunds of one request`);
    if (answers.includes('accepted') && row === undefined) said('accepted, and there is no refund');
    const isRefused = answers.every((answer) => answer === 'refused' || answer === 'unavailable');
    if (isRefused && row !== undefined) said(`refused, and its refund is ${row.state}`);
    if (row === undefined) {
      if (paid.length > 0) said('paid, and there is no refund');
      continue;
    }
    // A refund of unresolved funds pays the network fee of its claim.
    const isOther = (amount: bigint) =>
      invoice === undefined ? amount >= BigInt(row.amount) : amount.toString() !== row.amount;
    if (paid.some(({ asset, amount }) => asset !== row.asset || isOther(amount)))
      said('a refund is paid with another amount');
    if ((row.state === 'completed') !== paid.length > 0)
      said(`paid ${paid.length} times, and its refund is ${row.state}`);
    if (linkIsCancelled && row.state !== 'cancelled')
      said(`answered as cancelled, and its refund is ${row.state}`);
    if (row.claimed_late) said('claimed after its end');
    if (invoice !== undefined && row.told !== row.state)
      said(`its invoice shows it as ${row.told}, and it is ${row.state}`);
  }
  const invoices = database.run('invoices', PAID, [], false) as { id: string; paid: string }[];
  for (const { id, paid } of invoices) {
    const sum = refunded.get(id) ?? 0n;
    if (sum > BigInt(paid)) found.push(`${sum} of invoice ${id} were paid back, and ${paid} were paid`);
  }
  return found;
}
