import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { printed } from '@quittance/testkit/printed';
import type { Quittance } from '@quittance/testkit/quittance';
import { run } from 'quittance/run';

/** The stack that all cases of `shop.test.ts` share. Each opens merchants and receivers of its own. */
export type OnStack = () => Quittance;
/** How many blocks make a payment final there. */
export const CONFIRMATIONS = 3;

/** A merchant whose balance came in as customers' payments. */
export async function merchantWith(
  quittance: Quittance,
  asset: 'ETH' | 'USDC_ERC20',
  dollars: number,
): Promise<Merchant> {
  const shop = await quittance.merchant();
  await receive(quittance, shop, asset, dollars);
  return shop;
}

/** Mines until the node's blocks have shown it: a block before each look. */
export const whileMining = <T>(
  { ethereum }: Quittance,
  look: () => Promise<T> | T,
  withinMs = 60_000,
): Promise<T> =>
  eventually(
    async () => {
      await ethereum.mine();
      return await look();
    },
    withinMs,
    300,
  );

/** @returns the invoice, which is paid. */
export async function receive(
  quittance: Quittance,
  shop: Merchant,
  asset: 'ETH' | 'USDC_ERC20',
  dollars: number,
): Promise<{ id: string; amount: string; address: { address: string } }> {
  const { body } = await shop.post('/api/invoices', { asset, amount: dollars });
  await quittance.ethereum.pay(asset, body.data.address.address, body.data.amount);
  await quittance.ethereum.mine(CONFIRMATIONS);
  await eventually(async () =>
    expect((await shop.get(`/api/invoices/${body.data.id}`)).body.status).toBe('paid'),
  );
  return body.data;
}

export async function balanceOf(shop: Merchant, asset: string): Promise<{ balance: string; held: string }> {
  const { body } = await shop.get('/api/balances');
  return body.data.find((entry: { asset: { symbol: string } }) => entry.asset.symbol === asset);
}

/** The command `quittance` with these settings and those of the chains. */
export const quittanceCommand = (
  { stack }: Quittance,
  settings: Readonly<Record<string, string>>,
  args: readonly string[],
) => printed((to) => run(args, { env: { ...settings, ...stack.chainSettings }, cwd: '/nowhere', ...to }));
