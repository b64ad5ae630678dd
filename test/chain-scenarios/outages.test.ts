import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import type { Hex } from 'viem';
import { type EvmChain, startEvmChain } from './evm-chain.ts';
import { type Invoice, type MoneyIn, startEvmMoneyIn } from './money-in.ts';

/**
 * While the chain cannot be seen no invoice expires, and afterwards each has as much time left as it had before: a
 * fault proxy stands between the service and a real node, and time passes by a stepped clock.
 */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** By so much an outage may be reckoned wrongly. */
const STEP = 20_000;
const CONFIRMATIONS = 2;
const DUE = 10n ** 16n;
/** More blocks than one step reads. */
const MANY_BLOCKS = 40;

let chain: EvmChain;
let proxy: FaultProxy;
let shop: MoneyIn;
let account: AccountId;

beforeAll(async () => {
  chain = await startEvmChain({ payers: 3 });
  proxy = await startFaultProxy(chain.node.rpcUrl);
  shop = await startEvmMoneyIn(chain, CONFIRMATIONS, proxy.url);
  await block();
});
beforeEach(() => {
  account = shop.newAccount();
});
afterAll(async () => {
  await shop?.stop();
  await proxy?.close();
  await chain?.stop();
});

/** A block at the time it is. */
async function block(...raws: Hex[]): Promise<void> {
  const { timestamp } = await chain.client.getBlock();
  const now = BigInt(Math.floor(shop.clock.at.getTime() / 1_000));
  await chain.client.setNextBlockTimestamp({ timestamp: now > timestamp ? now : timestamp + 1n });
  await chain.mine(raws);
}

async function pays(payer: number, { address }: Invoice): Promise<void> {
  await block(await chain.sign(payer, await chain.nonce(payer), { to: address as Hex, value: DUE }));
}

const forward = (ms: number): void => {
  shop.clock.at = new Date(shop.clock.at.getTime() + ms);
};
const invoice = (minutes: number): Promise<Invoice> =>
  shop.invoice(account, { asset: 'ETH', amount: 25, expires_in: minutes });
const shown = async ({ id }: Invoice): Promise<{ status: string; expires: Date }> => {
  const { status, expires_at } = await shop.read(account, id);
  return { status, expires: new Date(expires_at) };
};
const statuses = (all: readonly Invoice[]) => Promise.all(all.map(async (one) => (await shown(one)).status));

/** Time in which the service sees its chain: blocks come, and are looked at. */
async function seen(ms: number): Promise<void> {
  await shop.pass('ethereum', ms, () => block());
}

/** Time in which blocks come as ever and the service tries in vain to see them. */
async function blind(ms: number, step = MINUTE): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    forward(step);
    await block();
    await expect(shop.step('ethereum')).rejects.toThrow();
    await shop.expire('ethereum');
  }
}

/** The chain is seen again: both workers go on, taking turns after every step. */
async function seeAgain(): Promise<void> {
  proxy.set({ kind: 'pass' });
  for (let quiet = 0; quiet < 2; ) {
    quiet = (await shop.step('ethereum')) === 0 ? quiet + 1 : 0;
    await shop.expire('ethereum');
  }
}

it('invoices do not expire in an outage, and have the time back that they lost', async () => {
  await seen(MINUTE);
  const [unpaid, paidInTime, paidInTheOutage, longer] = [
    await invoice(5),
    await invoice(5),
    await invoice(5),
    await invoice(60),
  ];
  const all = [unpaid, paidInTime, paidInTheOutage, longer];
  const before = await shown(unpaid);
  await seen(2 * MINUTE);

  proxy.set({ kind: 'reset', afterBytes: 1 });
  await pays(1, paidInTime);
  await blind(10 * MINUTE);
  // Its time would long be over.
  await pays(2, paidInTheOutage);
  const duringTheOutage = await invoice(5);
  await blind(10 * MINUTE);
  for (let i = 0; i < MANY_BLOCKS; i++) await block();
  expect(await statuses([...all, duringTheOutage])).toEqual(Array(5).fill('pending'));

  await seeAgain();
  expect(await statuses([unpaid, longer, duringTheOutage])).toEqual(Array(3).fill('pending'));
  await shop.settled();
  await shop.pass('ethereum', STEP, () => block());
  expect(await statuses([paidInTime, paidInTheOutage])).toEqual(['paid', 'paid']);

  const lost = 20 * MINUTE;
  const gained = (await shown(unpaid)).expires.getTime() - before.expires.getTime();
  expect(gained).toBeGreaterThanOrEqual(lost);
  expect(gained).toBeLessThanOrEqual(lost + 2 * STEP);

  // Three of five minutes were left.
  await seen(2 * MINUTE);
  expect(await statuses([unpaid, duringTheOutage])).toEqual(['pending', 'pending']);
  await seen(4 * MINUTE);
  expect(await statuses([unpaid, duringTheOutage, longer])).toEqual(['expired', 'expired', 'pending']);
});

it('a rate is locked for a day more at most', async () => {
  await seen(MINUTE);
  const one = await invoice(60);
  const before = await shown(one);
  proxy.set({ kind: 'reset', afterBytes: 1 });
  await blind(30 * HOUR, HOUR);
  await seeAgain();
  const { status, expires } = await shown(one);
  expect(expires.getTime() - before.expires.getTime()).toBe(24 * HOUR);
  expect(status).toBe('expired');
});

it('an expiry is told once, and not before the chain was seen', async () => {
  const told = await shop.db.rows<{ n: number }>(
    `select count(*)::int as n from outbox where kind = 'invoice.expired' group by payload->>'resource_id'`,
  );
  expect(told.map(({ n }) => n)).toEqual([1, 1, 1, 1]);
  expect(await shop.discrepancies(['I1', 'I2', 'I3', 'I5'])).toEqual([]);
});
