import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { AccountId } from '@quittance/shared/ids';
import { formatUnits, units } from '@quittance/shared/money';
import { ACCOUNTS } from './accounts.ts';
import { cancelSometimes } from './cancel-client.ts';
import { createInvoiceOf, dueOf } from './customer.ts';
import type { Environment } from './environment.ts';
import { callRoute, jsonCall } from './http-call.ts';
import { type Order, payoutIdIn } from './payout-client.ts';
import type { SimService } from './process.ts';
import { askForRefund, callPayouts, RETURN, type Steps as RefundSteps, saidOf } from './refund-client.ts';
import { networkFee } from './services.ts';

const TRIES_MAX = 3;
const VOIDED_AFTER_MS = 12_000;
/** A little more than the time of an invoice. */
const TOO_LATE_MS = 61_000;
const LATE = 2;
const LOOKS_MAX = 5;
const TURNS_MAX = 60;
/** Solana's blocks are final when four stand on them. */
const FINAL_AFTER = 4;
const ACCEPT = 'POST /api/unresolved/:id/accept';

type Unresolved = { id: string; account: AccountId; asset: AssetSymbol; amount: bigint };

/** A merchant's wish to pay unresolved funds back to an address. What it pays of all that is left is known to the ledger alone. */
export type Return = Omit<Order, 'amount'> & { deposit: string; amount: bigint | undefined };

/** Unresolved funds that a merchant wants in his balance, and how often he was answered that they are. */
export type Acceptance = { deposit: string; accepted: number };

type Steps = RefundSteps & { returns: Return[]; acceptances: Acceptance[] };

/** What merchants want at once of the same funds. */
const wishes = [
  ['all'],
  ['all', 'accept'],
  ['all', 'accept'],
  ['all', 'all'],
  ['part', 'accept'],
  ['part', 'accept'],
  ['part', 'part'],
  ['part', 'all'],
  ['link', 'accept'],
  ['link', 'part'],
  ['link', 'all'],
] as const;
type Wish = (typeof wishes)[number][number];

/**
 * Before anything goes wrong, in scenarios with late funds: two payments to one merchant come after the time of their invoices, and are booked.
 * @returns what is wrong with that
 */
export async function payTooLate(
  environment: Environment,
  step: (...[service, worker]: [SimService, string]) => Promise<void>,
): Promise<string[]> {
  if (!environment.hasLateFunds) return [];
  const { chance, chain, scheduler, outside, faults } = environment;
  faults.isQuiesced = true;
  const [invoices] = environment.alive('invoices');
  if (invoices === undefined) throw new Error('invoices runs');
  const account = chance.oneOf(ACCOUNTS);
  const asset = chain.assets[0] as AssetSymbol;
  const late: { asset: AssetSymbol; to: string; amount: bigint }[] = [];
  for (let n = 0; n < LATE; n++) {
    const work: Parameters<typeof createInvoiceOf>[0] = async (ask) => ({ value: await ask(invoices) });
    const made = await createInvoiceOf(work, account, asset, chance.between(1, 3) * 10, 1);
    if (made === undefined) throw new Error('an invoice is made');
    const { address, due } = dueOf(environment, made);
    late.push({ asset, to: address, amount: due });
  }
  await scheduler.sleep(outside, TOO_LATE_MS);
  chain.mine(1);
  await step('invoices', 'scan');
  await step('invoices', 'expire');
  for (const payment of late) chain.pay(payment);
  chain.mine(chain.minConfirmations + FINAL_AFTER);
  for (let looks = 0; looks < LOOKS_MAX && unresolvedFunds(environment).length < LATE; looks++) {
    await step('invoices', 'scan');
    await step('invoices', 'expire');
    chain.mine(1);
  }
  faults.isQuiesced = false;
  return unresolvedFunds(environment).length < LATE ? ['payments that came too late are not unresolved'] : [];
}

/** A merchant decides about funds that came too late: in one way, or in two that do not fit together. */
export async function runUnresolvedClient(environment: Environment, steps: Steps): Promise<void> {
  const { chance, scheduler, outside } = environment;
  await scheduler.sleep(outside, chance.percent(60) ? 0 : chance.below(3_000));
  const funds = unresolvedFunds(environment);
  if (funds.length === 0) return;
  const deposit = chance.oneOf(funds);
  await Promise.all(chance.oneOf(wishes).map((wish) => decide(environment, steps, deposit, wish)));
}

function stateOf({ database }: Environment, id: string): unknown {
  return database.run('ledger', 'select state from unresolved where deposit_id = $1', [id], false)[0]?.[
    'state'
  ];
}

/** Waits for some turns until this is so. */
export async function until({ scheduler, outside }: Environment, isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < TURNS_MAX && !isSo(); turns++) await scheduler.turn(outside);
}

const unresolvedFunds = ({ database }: Environment): Unresolved[] =>
  database
    .run('ledger', 'select deposit_id as id, account_id, asset, amount from unresolved order by 1', [], false)
    .map((row) => ({
      id: row['id'] as string,
      account: row['account_id'] as AccountId,
      asset: row['asset'] as AssetSymbol,
      amount: BigInt(row['amount'] as string),
    }));

async function decide(
  environment: Environment,
  steps: Steps,
  deposit: Unresolved,
  wish: Wish,
): Promise<void> {
  const { chance } = environment;
  const part = () => (deposit.amount * BigInt(chance.oneOf([30, 50, 70]))) / 100n;
  switch (wish) {
    case 'accept':
      return await accept(environment, steps, deposit);
    case 'all':
      return await giveBack(environment, steps, deposit);
    case 'part':
      return await giveBack(environment, steps, deposit, part());
    case 'link': {
      const { id, account } = deposit;
      const amount = chance.percent(50) ? { amount: textOf(deposit, part()) } : {};
      const body = { claim: true, ...amount };
      return await askForRefund(environment, steps, { account, of: { deposit: id } }, undefined, body);
    }
  }
}

const textOf = ({ asset }: Unresolved, amount: bigint): string =>
  formatUnits(units(amount), assets[asset].decimals);

async function accept(environment: Environment, { acceptances }: Steps, deposit: Unresolved): Promise<void> {
  const { chance, scheduler, outside } = environment;
  const acceptance: Acceptance = { deposit: deposit.id, accepted: 0 };
  acceptances.push(acceptance);
  // Often when a return of it is on its way, or has just come to nothing.
  if (chance.percent(50)) await until(environment, () => stateOf(environment, deposit.id) === 'returning');
  else await scheduler.sleep(outside, chance.below(6_000));
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answer = await callRoute(environment, 'ledger', ACCEPT, {
      ...jsonCall({}),
      account: deposit.account,
      requestId: 'req_accept',
      params: { id: deposit.id },
    });
    environment.tell(outside, `who accepts ${deposit.id} hears ${answer?.status}`);
    if (answer?.status === 200) acceptance.accepted += 1;
    else if (answer !== undefined && answer.status !== 409)
      environment.defects.push(`${ACCEPT} is answered with ${answer.status}`);
    // What was returned may come back, and what is unheard may be done.
    if (answer?.status === 200) return;
    await scheduler.sleep(outside, chance.below(8_000));
  }
}

async function giveBack(
  environment: Environment,
  { returns, newRecipient, listeners }: Steps,
  deposit: Unresolved,
  takes?: bigint,
): Promise<void> {
  const { chance, scheduler, outside } = environment;
  const { id, account, asset } = deposit;
  const recipient = newRecipient();
  const order: Return = {
    ...{ deposit: id, account, asset, recipient, answers: [], payoutIds: new Set(), cancels: [] },
    amount: takes === undefined ? undefined : takes - networkFee(environment, asset),
    key: chance.percent(60) ? `return ${returns.length + 1}` : undefined,
  };
  returns.push(order);
  const body = { address: recipient, ...(takes !== undefined && { amount: textOf(deposit, takes) }) };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answer = await callPayouts(environment, RETURN, listeners.onPayout, {
      ...jsonCall(body),
      ...{ account, requestId: `req_${recipient}`, params: { id }, key: order.key },
    });
    const said = saidOf(environment, answer);
    order.answers.push(said);
    environment.tell(outside, `who returns ${id} to ${recipient} hears: ${said}`);
    if (said === 'accepted' && answer !== undefined) {
      order.payoutIds.add(payoutIdIn(answer));
      return await cancelSometimes(environment, order, listeners.onPayout);
    }
    if (said === 'refused') return;
    listeners.onUndecided(VOIDED_AFTER_MS);
    if (order.key === undefined) return;
    await scheduler.sleep(outside, chance.below(8_000));
  }
}
