import { CANCELLED } from '@quittance/payouts/domain/states';
import { invariants } from '@quittance/reconciliation/invariants';
import { type Batch, madeOf } from './batch-client.ts';
import type { Cancellable } from './cancel-client.ts';
import type { TruePayment } from './chain.ts';
import type { Environment } from './environment.ts';
import { brokenExports } from './export-oracle.ts';
import { brokenLateFunds } from './late-funds-oracle.ts';
import type { Asked } from './merchant.ts';
import { signedWhilePaused } from './operator.ts';
import { brokenSales } from './payer-oracle.ts';
import type { Order } from './payout-client.ts';
import type { Refund } from './refund-client.ts';
import { brokenRefunds } from './refund-oracle.ts';
import type { Return } from './unresolved-client.ts';

type Payout = { id: string; status: string; address: string; failed_reason: string | null };
type Deposit = { id: string; outpoint: string; amount: string; credits: number; reversals: number };

/** What the operator has put into the hot wallet of each asset before every scenario. */
export const HOT_UNITS = 60n;

/** What is wrong in the end: nothing, whatever happened. */
export async function outcome(environment: Environment, asked: Asked): Promise<string[]> {
  const { orders, batches, refunds, sales, pauses, returns } = asked;
  const { hasExtras, hasChoices, hasLateFunds } = environment;
  const truth = environment.chain.truth();
  const payouts = environment.database.run(
    'payouts',
    'select id, status, address, failed_reason from payouts',
    [],
    false,
  ) as Payout[];
  return [
    ...environment.defects,
    ...brokenBooks(environment),
    ...brokenPayouts(payouts, [...orders, ...returns], truth),
    ...brokenCancels(payouts, [...orders, ...returns, ...refunds.flatMap(cancelled)], truth),
    ...brokenBatches(payouts, batches),
    ...brokenDeposits(environment, truth),
    ...brokenRefunds(environment, refunds, truth),
    ...brokenLateFunds(environment, asked, truth),
    ...brokenSales(environment, sales),
    ...signedWhilePaused(environment, pauses),
    ...(hasExtras || hasChoices || hasLateFunds ? await brokenExports(environment) : []),
    ...brokenReserves(environment, recipientsOf(asked), truth),
  ];
}

/** What happens to an invoice once is told once. */
const toldTwice = `
  select resource_id || ' is told ' || kind || ' ' || count(*) || ' times' as what from webhooks.events
  where kind in ('invoice.created', 'invoice.confirmed', 'invoice.paid', 'invoice.expired', 'invoice.underpaid')
  group by resource_id, kind having count(*) > 1`;

const creditedElsewhere = `
  select 'the payment ' || d.outpoint || ' is ' || d.disposition || ' and went to ' || e.bucket as what
  from invoices.deposits d
  join ledger.transfers t on t.op = 'deposit:' || d.id join ledger.entries e on e.transfer_seq = t.seq
  where e.account_id is not null
    and e.bucket <> case d.disposition when 'credit' then 'available' else 'unresolved' end`;

/** All in one question: each of its own costs what a small statement does. I7 is the last one that every scenario asks. */
const books = [
  ...invariants
    .filter(({ number }) => number !== 'I7')
    .map(({ number, sql }) => `select '${number}: ' || what as what from (${sql}) as broken`),
  toldTwice,
  creditedElsewhere,
].join('\nunion all\n');

function brokenBooks({ database }: Environment): string[] {
  return database.run('ledger', books, [0], false).map(({ what }) => what as string);
}

/** The chain's truth against what the merchant was told. */
function brokenPayouts(
  payouts: readonly Payout[],
  orders: readonly (Order | Return)[],
  truth: readonly TruePayment[],
): string[] {
  const found: string[] = [];
  for (const order of orders) {
    const { recipient, answers, payoutIds } = order;
    const paid = truth.filter(({ to }) => to === recipient);
    const made = payouts.filter(({ address }) => address === recipient);
    const said = (what: string) => found.push(`${what}: ${recipient} (${answers.join(', ')})`);
    if (paid.length > 1) said(`paid ${paid.length} times`);
    const isOther = (amount: bigint) => order.amount !== undefined && amount !== order.amount;
    const wrong = paid.some(({ asset, amount }) => asset !== order.asset || isOther(amount));
    if (wrong) said('paid another amount');
    const standing = made.filter(stands);
    if (standing.length > 1) said(`${standing.length} payouts for one order`);
    if (answers.includes('accepted') && standing.length !== 1) said('accepted, and there is no payout');
    for (const id of payoutIds) {
      if (standing[0]?.id !== id) said(`told of payout ${id}, and payout ${standing[0]?.id} stands`);
    }
    if (answers.every((answer) => answer === 'refused' || answer === 'unavailable') && standing.length > 0) {
      said(`refused, and its payout is ${standing[0]?.status}`);
    }
    const isMined = standing.some(({ status }) => status === 'mined');
    if (isMined && paid.length === 0) said('mined, and nothing was paid');
    if (!isMined && paid.length > 0)
      said(`paid, and its payout is ${made.map(({ status }) => status).join()}`);
  }
  return found;
}

/** Its client was told of it, or may be. */
const stands = ({ status }: Pick<Payout, 'status'>): boolean => !['refused', 'voided'].includes(status);

const cancelled = ({ recipient, ...refund }: Refund): Cancellable[] =>
  recipient === undefined ? [] : [{ ...refund, recipient }];

/** What was answered as cancelled has failed and is never paid; what was answered as too late is not cancelled. */
function brokenCancels(
  payouts: readonly Payout[],
  orders: readonly Cancellable[],
  truth: readonly TruePayment[],
): string[] {
  const found: string[] = [];
  for (const { recipient, cancels, payoutIds } of orders.filter(({ cancels: { length } }) => length > 0)) {
    const payout = payouts.find(({ id }) => payoutIds.has(id));
    const isCancelled = payout?.status === 'failed' && payout.failed_reason === CANCELLED;
    const said = (what: string) => found.push(`${what}: ${recipient} (${cancels.join(', ')})`);
    if (cancels.includes('cancelled') && !isCancelled)
      said(`answered as cancelled, and its payout is ${payout?.status}`);
    if (cancels.includes('too_late') && isCancelled) said('answered as too late, and it was cancelled');
    if (isCancelled && truth.some(({ to }) => to === recipient)) said('cancelled, and paid');
  }
  return found;
}

/** A batch of all or nothing is paid whole, or no line of it. */
function brokenBatches(payouts: readonly Payout[], batches: readonly Batch[]): string[] {
  return batches.flatMap((batch) => {
    const paid = madeOf(batch, payouts).filter(stands).length;
    if (batch.mode === 'each' || paid === 0 || paid >= batch.lines.size) return [];
    return [`${paid} of ${batch.lines.size} lines of a batch of all or nothing have a payout`];
  });
}

/** How often it is credited, after all that was taken back. */
const standing = ({ credits, reversals }: Deposit): number => credits - reversals;

/** Every payment that counts is credited once, nothing else is. */
function brokenDeposits(environment: Environment, all: readonly TruePayment[]): string[] {
  const { database, chain } = environment;
  const found: string[] = [];
  const deposits = database.run(
    'ledger',
    `select d.id, d.outpoint, d.amount,
       (select count(*) from ledger.transfers t where t.op = 'deposit:' || d.id)::int as credits,
       (select count(*) from ledger.transfers t where t.op = 'reversal:' || d.id)::int as reversals
     from invoices.deposits d`,
    [],
    false,
  ) as Deposit[];
  const addresses = new Set(
    database
      .run('invoices', 'select address from addresses', [], false)
      .map(({ address }) => address as string),
  );
  const credited = Map.groupBy(deposits, ({ outpoint }) => outpoint);
  const truth = all.filter(({ to, isOurs }) => !isOurs && addresses.has(to));
  for (const { outpoint, amount, confirmations } of truth) {
    if (confirmations < chain.minConfirmations) continue;
    const of = credited.get(outpoint) ?? [];
    const times = of.reduce((sum, one) => sum + standing(one), 0);
    if (times !== 1) found.push(`the payment ${outpoint} of ${amount} is credited ${times} times`);
    if (of.some((one) => standing(one) !== 0 && one.amount !== amount.toString()))
      found.push(`the payment ${outpoint} of ${amount} is credited with another amount`);
  }
  for (const { id, outpoint, reversals } of deposits) {
    // Only what was final and left the chain all the same is taken back.
    const had = environment.taken.get(outpoint) ?? 0;
    if (reversals > 0 && had < chain.minConfirmations)
      found.push(`credited before it was final, with ${had} confirmations: reversal:${id}`);
  }
  const real = new Set(truth.map(({ outpoint }) => outpoint));
  for (const deposit of deposits) {
    if (!real.has(deposit.outpoint) && standing(deposit) !== 0)
      found.push(`${deposit.outpoint} is credited and not in the chain`);
  }
  return found;
}

/** Whom merchants, or their customers, wanted to be paid. */
const recipientsOf = ({ orders, returns, refunds, rules }: Asked): Set<string> =>
  new Set([
    ...[...orders, ...returns].map(({ recipient }) => recipient),
    ...refunds.flatMap(({ recipients }) => recipients),
    ...rules.flatMap(({ addresses }) => addresses.map(({ address }) => address)),
  ]);

/** What our keys have signed goes to who was to be paid, or stays ours; and all that was not paid is still there. */
function brokenReserves(
  environment: Environment,
  recipients: ReadonlySet<string>,
  truth: readonly TruePayment[],
): string[] {
  const { database, chain } = environment;
  const found: string[] = [];
  const places = new Set([chain.hotAddress]);
  const paidIn = new Map<string, bigint>();
  const paidOut = new Map<string, bigint>();
  const add = (to: Map<string, bigint>, { asset, amount }: TruePayment) =>
    to.set(asset, (to.get(asset) ?? 0n) + amount);
  for (const payment of truth) {
    const { to, isOurs, amount, asset, txHash } = payment;
    const stays = chain.isOurAddress(to);
    if (stays) places.add(to);
    if (isOurs && !stays && !recipients.has(to))
      found.push(`${amount} ${asset} went to ${to}, whom nobody was to pay, in ${txHash}`);
    if (isOurs && !stays) add(paidOut, payment);
    // What the hot wallet got from others is what it was funded with.
    if (!isOurs && stays && to !== chain.hotAddress) add(paidIn, payment);
  }
  // What was final and then taken back by a deeper reorganisation stays booked as an expense: more is there than was thought.
  const isUndone = [...environment.taken.values()].some(
    (confirmations) => confirmations >= chain.minConfirmations,
  );
  const booked = database.run(
    'ledger',
    `select asset, coalesce(sum(amount) filter (where account_id is not null), 0)::text as owed,
       coalesce(-sum(amount) filter (where bucket = 'network'), 0)::text as cost
     from ledger.entries group by asset`,
    [],
    false,
  );
  for (const asset of chain.assets) {
    const row = booked.find((one) => one['asset'] === asset);
    const owed = BigInt((row?.['owed'] as string | undefined) ?? 0);
    const cost = BigInt((row?.['cost'] as string | undefined) ?? 0);
    const there = [...places].reduce((sum, address) => sum + chain.balance(asset, address), 0n);
    const left =
      HOT_UNITS * chain.unit(asset) + (paidIn.get(asset) ?? 0n) - (paidOut.get(asset) ?? 0n) - cost;
    if (there < owed) found.push(`${owed} ${asset} are owed, and ${there} are there`);
    if (isUndone ? there < left : there !== left)
      found.push(`${left} ${asset} are left after all that was paid and booked, and ${there} are there`);
  }
  return found;
}
