import { type PayoutCall, payOnce } from '@quittance/payouts/http/pay-once';
import { readPayoutOrder } from '@quittance/payouts/payout-order';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { Answer } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { formatUnits, units } from '@quittance/shared/money';
import { requestProofOf } from '@quittance/testkit/api';
import { z } from 'zod';
import { ACCOUNTS } from './accounts.ts';
import { type CancelAnswer, cancelSometimes } from './cancel-client.ts';
import type { Environment } from './environment.ts';
import { callOverHttp } from './http-call.ts';
import { quotesOf } from './services.ts';

const TRIES_MAX = 4;

/** A merchant's wish to pay somebody, and all that he was answered. `unheard`: a 500, or nothing. */
export type Order = {
  account: AccountId;
  asset: AssetSymbol;
  amount: bigint;
  recipient: string;
  answers: ('accepted' | 'refused' | 'unavailable' | 'unheard')[];
  /** The payouts he was told of. */
  payoutIds: Set<string>;
  key: string | undefined;
  /** What he was answered when he cancelled it. */
  cancels: CancelAnswer[];
};

/** What a client of payouts causes: a payout may be signed, and an undecided request is voided after so long. */
export type PayoutListeners = { onPayout: () => void; onUndecided: (afterMs: number) => void };

/** Longer than a request is left undecided. */
const VOIDED_AFTER_MS = 12_000;

/** A client that asks for one payout, and again when it was not answered. */
export async function runClient(
  environment: Environment,
  orders: Order[],
  newRecipient: () => string,
  { onPayout, onUndecided }: PayoutListeners,
): Promise<void> {
  const { chance, scheduler } = environment;
  // Often two at once.
  await scheduler.sleep(environment.outside, chance.percent(40) ? 0 : chance.below(5_000));
  const order = newOrder(environment, newRecipient());
  orders.push(order);
  if (chance.percent(60)) order.key = `key ${orders.length}`;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answer = await requestOnce(environment, order, onPayout);
    order.answers.push(answer);
    environment.tell(environment.outside, `the client of ${order.recipient} hears: ${answer}`);
    if (answer === 'unavailable' || answer === 'unheard') onUndecided(VOIDED_AFTER_MS);
    if (answer === 'accepted') await cancelSometimes(environment, order, onPayout);
    if (answer === 'accepted' || answer === 'refused' || order.key === undefined) return;
    await scheduler.sleep(environment.outside, chance.below(8_000));
  }
}

/** Something to pay to somebody who gets nothing else. */
export function newOrder(environment: Environment, recipient: string, account?: AccountId): Order {
  const { chance, chain } = environment;
  const asset = chance.percent(70) ? (chain.assets[0] as AssetSymbol) : chance.oneOf(chain.assets);
  const order: Order = {
    account: account ?? chance.oneOf(ACCOUNTS),
    asset,
    // The second account has three units: some of it is beyond its balance.
    amount: chain.unit(asset) * BigInt(chance.between(1, 2)) + BigInt(chance.below(1_000)),
    recipient,
    answers: [],
    payoutIds: new Set(),
    key: undefined,
    cancels: [],
  };
  if (chance.percent(6)) chain.refuseAt(recipient);
  return order;
}

/** The body of a request, or a line of a batch. */
export const bodyOf = ({ asset, amount, recipient }: Pick<Order, 'asset' | 'amount' | 'recipient'>) => ({
  asset,
  amount: formatUnits(units(amount), assets[asset].decimals),
  address: recipient,
});

async function requestOnce(
  environment: Environment,
  order: Order,
  onPayout: () => void,
): Promise<Order['answers'][number]> {
  const answer = await postPayout(environment, order, { amount: order.amount, onPayout });
  if (answer === undefined) return 'unheard';
  switch (answer.status) {
    case 201:
      order.payoutIds.add(payoutIdIn(answer));
      return 'accepted';
    case 503:
      return 'unavailable';
    case 409:
      return 'unheard';
    case 400:
      return 'refused';
    default:
      environment.defects.push(`POST /api/payouts is answered with ${answer.status}: ${order.recipient}`);
      return 'refused';
  }
}

/** POST /api/payouts as the service answers it. Undefined when the client hears nothing, or a 500. */
async function postPayout(
  environment: Environment,
  order: Order,
  { amount, onPayout }: { amount: bigint; onPayout?: () => void },
): Promise<Answer | undefined> {
  const { account, recipient, key } = order;
  const body = bodyOf({ ...order, amount });
  const call: PayoutCall = {
    account,
    request: requestProofOf(account, {
      method: 'POST',
      path: '/api/payouts',
      body: JSON.stringify(body),
      now: new Date(environment.scheduler.now),
    }),
    requestId: `req_${recipient}`,
    idempotencyKey: key,
    asked: Buffer.from(JSON.stringify(body)),
    returnsDeposit: null,
  };
  const heard = await callOverHttp(environment, 'payouts', 'POST /api/payouts', async (process) => {
    const ports = process.replica.payouts;
    if (ports === undefined) throw new Error('payouts takes payouts');
    const quotes = quotesOf(environment);
    const answer = await payOnce(ports, call, () => readPayoutOrder(body, { ...ports, quotes }));
    if (answer.status === 201 && !isReplayed(answer)) onPayout?.();
    return answer;
  });
  return heard === undefined || 'error' in heard ? undefined : heard.value;
}

export const isReplayed = ({ headers }: Answer): boolean => headers?.['Idempotent-Replayed'] !== undefined;

const created = z.object({ data: z.object({ id: z.number() }) });
export const payoutIdIn = ({ body }: Answer): string => String(created.parse(body).data.id);

/**
 * Repeats each request when all is decided. The answer must be the stored one, and another body with the same key must be
 * refused. A voided request has freed its key, so repeating it would create a payout.
 * @returns what is answered instead
 */
export async function repeatRequests(environment: Environment, orders: readonly Order[]): Promise<string[]> {
  const found: string[] = [];
  for (const order of orders.filter(({ key }) => key !== undefined)) {
    const decided = environment.database
      .run('payouts', 'select id, status from payouts where address = $1', [order.recipient], false)
      .filter(({ status }) => status !== 'voided');
    const [payout] = decided;
    if (payout === undefined) continue;
    const expected = payout['status'] === 'refused' ? '400' : `201 of ${String(payout['id'])}`;
    const said = async (amount: bigint) => {
      const answer = await postPayout(environment, order, { amount });
      return answer?.status === 201 ? `201 of ${payoutIdIn(answer)}` : String(answer?.status);
    };
    const again = await said(order.amount);
    if (again !== expected)
      found.push(`a repeated request is answered with ${again}, not ${expected}: ${order.recipient}`);
    const other = await said(order.amount + 1n);
    if (other !== '422')
      found.push(`another body has the same key and is answered with ${other}: ${order.recipient}`);
  }
  return found;
}
