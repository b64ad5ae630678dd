import { requestPayout } from '@quittance/payouts/operations/request-payout';
import type { AssetSymbol } from '@quittance/shared/assets';
import { findKey } from '@quittance/shared/idempotency';
import type { AccountId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { ACCOUNTS } from './accounts.ts';
import type { Environment } from './environment.ts';
import { callOverHttp } from './http-call.ts';
import { networkFee, stepOf } from './services.ts';

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
};

/** A client that asks for one payout, and again when it was not answered. */
export async function runClient(
  environment: Environment,
  orders: Order[],
  newRecipient: () => string,
  { onPayout, onUndecided }: { onPayout: () => void; onUndecided: () => void },
): Promise<void> {
  const { chance, scheduler, chain } = environment;
  // Often two at once.
  await scheduler.sleep(environment.outside, chance.percent(40) ? 0 : chance.below(5_000));
  const asset = chance.percent(70) ? (chain.assets[0] as AssetSymbol) : chance.oneOf(chain.assets);
  const order: Order = {
    account: chance.oneOf(ACCOUNTS),
    asset,
    // The second account has three units: some of it is beyond its balance.
    amount: chain.unit(asset) * BigInt(chance.between(1, 2)) + BigInt(chance.below(1_000)),
    recipient: newRecipient(),
    answers: [],
    payoutIds: new Set(),
  };
  orders.push(order);
  if (chance.percent(6)) chain.refuseAt(order.recipient);
  const key = chance.percent(60) ? `key ${orders.length}` : undefined;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const answer = await requestOnce(environment, order, key, onPayout);
    order.answers.push(answer);
    environment.tell(environment.outside, `the client of ${order.recipient} hears: ${answer}`);
    if (answer === 'unavailable' || answer === 'unheard') onUndecided();
    if (answer === 'accepted' || answer === 'refused' || key === undefined) return;
    await scheduler.sleep(environment.outside, chance.below(8_000));
  }
}

/** POST /api/payouts, as http.ts has it. */
async function requestOnce(
  environment: Environment,
  order: Order,
  key: string | undefined,
  onPayout: () => void,
): Promise<Order['answers'][number]> {
  const { account, asset, amount, recipient } = order;
  const named = key === undefined ? undefined : { account, key, bodyHash: recipient };
  const heard = await callOverHttp(
    environment,
    'payouts',
    'POST /api/payouts',
    async (process): Promise<{ status: number; id?: string | undefined }> => {
      const ports = process.replica.payouts;
      if (ports === undefined) throw new Error('payouts takes payouts');
      const before = async () => {
        const known = named && (await findKey(ports.db, named));
        if (known?.state === 'answered') {
          const { data } = known.body as { data?: { id: number } };
          return { status: known.status, id: data === undefined ? undefined : String(data.id) };
        }
        return known === undefined ? undefined : { status: 409 };
      };
      const earlier = await before();
      if (earlier !== undefined) return earlier;
      const request = stepOf(environment, 'payouts.request', process, requestPayout);
      const made = await request(ports, {
        account,
        asset,
        amount: units(amount),
        address: recipient,
        networkFee: units(networkFee(environment, asset)),
        minConfirmations: environment.chain.minConfirmations,
        returnsDeposit: null,
        requestId: `req_${order.recipient}`,
        key: named,
      });
      if (made.ok) {
        onPayout();
        return { status: 201, id: made.value };
      }
      if (made.refusal === 'key_taken') return (await before()) ?? { status: 409 };
      return { status: made.refusal === 'unavailable' ? 503 : 400 };
    },
  );
  if (heard === undefined) return 'unheard';
  if ('error' in heard) return 'unheard';
  const { status, id } = heard.value;
  switch (status) {
    case 201:
      order.payoutIds.add(String(id));
      return 'accepted';
    case 503:
      return 'unavailable';
    case 409:
      return 'unheard';
    default:
      return 'refused';
  }
}
