import { CANCELLED } from '@quittance/payouts/domain/states';
import type { TruePayment } from './chain.ts';
import type { Environment } from './environment.ts';
import type { Asked } from './merchant.ts';
import type { Rule } from './rule-client.ts';

type Deposit = { id: string; amount: string; accepted: string; state: string };
type Payout = {
  id: string;
  account_id: string;
  address: string;
  amount: string;
  network_fee: string;
  status: string;
  failed_reason: string | null;
  automatic: boolean;
  returns_deposit: string | null;
  created_at: Date;
  updated_at: Date;
};

const DEPOSITS = `
  select u.deposit_id as id, d.amount::text as amount, u.state,
    coalesce((select sum(t.amount) from ledger.transfers t where t.op = 'accept:' || u.deposit_id), 0)::text as accepted
  from ledger.unresolved u join invoices.deposits d on d.id = u.deposit_id`;

const PAYOUTS = `
  select id::text as id, account_id, address, amount::text as amount, network_fee::text as network_fee, status, failed_reason,
    automatic, returns_deposit, created_at, updated_at
  from payouts.payouts where automatic or returns_deposit is not null order by created_at, id`;

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n);

/** What merchants decided about funds that came too late, and what was paid by itself. */
export function brokenLateFunds(
  { database, hasLateFunds }: Environment,
  { acceptances, rules }: Asked,
  truth: readonly TruePayment[],
): string[] {
  if (!hasLateFunds) return [];
  const deposits = database.run('ledger', DEPOSITS, [], false) as Deposit[];
  const payouts = database.run('payouts', PAYOUTS, [], false) as Payout[];
  return [
    ...deposits.flatMap((deposit) => brokenDeposit(deposit, payouts, acceptances, truth)),
    ...brokenRules(rules, payouts, truth),
  ];
}

/** Of a deposit no more is accepted and paid back, with the fees, than came; and what was answered is so. */
function brokenDeposit(
  { id, amount, accepted, state }: Deposit,
  payouts: readonly Payout[],
  acceptances: Asked['acceptances'],
  truth: readonly TruePayment[],
): string[] {
  const found: string[] = [];
  // A request without a key may have been repeated: then some payouts have one address.
  const own = new Map(
    payouts.filter((payout) => payout.returns_deposit === id).map((payout) => [payout.address, payout]),
  );
  const back = [...own].flatMap(([address, { network_fee }]) =>
    truth.filter(({ to }) => to === address).map((paid) => paid.amount + BigInt(network_fee)),
  );
  for (const [address] of own) {
    const amounts = payouts.filter((payout) => payout.address === address).map((payout) => payout.amount);
    for (const paid of truth.filter(({ to }) => to === address)) {
      if (!amounts.includes(paid.amount.toString()))
        found.push(
          `${paid.amount} of unresolved ${id} were paid to ${address}, and its payout is of ${amounts.join()}`,
        );
    }
  }
  const taken = BigInt(accepted) + sum(back);
  if (taken > BigInt(amount))
    found.push(`${taken} of unresolved ${id} were accepted or paid back, and ${amount} came`);
  const times = sum(acceptances.filter(({ deposit }) => deposit === id).map((one) => BigInt(one.accepted)));
  if (times > 1n) found.push(`unresolved ${id} was answered as accepted ${times} times`);
  if (times > 0n && BigInt(accepted) === 0n)
    found.push(`unresolved ${id} was answered as accepted, and is ${state}`);
  return found;
}

/** A payout of a rule is paid once, to an address that its merchant has given and not taken back. */
function brokenRules(
  rules: readonly Rule[],
  payouts: readonly Payout[],
  truth: readonly TruePayment[],
): string[] {
  const found: string[] = [];
  const automatic = payouts.filter((payout) => payout.automatic);
  for (const { address, account_id } of automatic) {
    const isGiven = ({ account, addresses }: Rule) =>
      account === account_id && addresses.some((one) => one.address === address);
    if (!rules.some(isGiven)) found.push(`an automatic payout goes to ${address}, which no rule names`);
  }
  for (const { account, addresses } of rules) {
    const own = automatic.filter(({ account_id }) => account_id === account);
    for (const { address, madeBefore, storedAt, cancelled } of addresses) {
      const made = own.filter((payout) => payout.address === address);
      const paid = truth.filter(({ to }) => to === address).map((one) => one.amount);
      const mined = made.filter(({ status }) => status === 'mined').map((one) => BigInt(one.amount));
      if (paid.toSorted().join() !== mined.toSorted().join())
        found.push(
          `automatic payouts of ${mined.join()} are mined, and ${paid.join()} were paid to ${address}`,
        );
      if (madeBefore !== undefined && made.some(({ id }) => !madeBefore.has(id)))
        found.push(`an automatic payout goes to ${address} after its merchant has changed the rule`);
      if (cancelled === undefined) continue;
      const payout = made.find(({ id }) => id === cancelled.id);
      const isCancelled = payout?.status === 'failed' && payout.failed_reason === CANCELLED;
      if (cancelled.answers.includes('cancelled') && !isCancelled)
        found.push(`answered as cancelled, and the automatic payout to ${address} is ${payout?.status}`);
      // Its merchant had put nothing after that payout began.
      const isLast = addresses.at(-1)?.address === address;
      if (!isCancelled || !isLast || storedAt === undefined || payout.created_at.getTime() < storedAt)
        continue;
      // Its status changes no more.
      const after = (one: Payout) => one !== payout && one.created_at >= payout.updated_at;
      if (own.some(after))
        found.push(`an automatic payout goes to ${address} after its merchant has cancelled one`);
    }
  }
  return found;
}
