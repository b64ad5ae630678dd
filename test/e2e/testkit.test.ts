import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Quittance as Client, PermissionError, RateLimitError } from '@quittance/client';
import { type Merchant, type Quittance, startQuittance } from '@quittance/testkit';
import { eventually } from '@quittance/testkit/eventually';

/** What docs/testkit.md promises beside what its example shows. */

let quittance: Quittance;

beforeAll(async () => {
  quittance = await startQuittance({
    engines: 'embedded',
    chains: ['solana'],
    blockEverySeconds: 0,
    confirmations: 3,
    settings: { gateway: { RATE_LIMIT_PER_MINUTE: '15' } },
  });
});
afterAll(async () => {
  await quittance?.stop();
});

const clientOf = ({ token }: Merchant) => new Client({ url: quittance.url, token, maxRetries: 0 });

const HEIGHT = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] };

async function height(): Promise<bigint> {
  const headers = { 'Content-Type': 'application/json' };
  const order = { method: 'POST', headers, body: JSON.stringify(HEIGHT) };
  const answer = await fetch(quittance.nodes.ethereum.rpc, order);
  return BigInt(((await answer.json()) as { result: string }).result);
}

test('with no time between blocks, there are those that are mined, and no others', async () => {
  const shop = clientOf(await quittance.merchant());
  const { id, address, amount } = await shop.invoices.create({ asset: 'ETH', amount: '10' });
  const before = await height();
  await quittance.pay('ETH', address.address, amount);
  const seen = () => shop.invoices.retrieve(id);
  await quittance.mine(2);
  const waits = { status: 'confirmed', payments: [{ confirmations: 2, required_confirmations: 3 }] };
  await eventually(async () => expect(await seen()).toMatchObject(waits), 20_000, 1_500);
  expect(await height()).toBe(before + 2n);
  await quittance.mine();
  expect(await height()).toBe(before + 3n);
  await eventually(async () => expect((await seen()).status).toBe('paid'), 20_000, 1_500);
});

test('accounts are apart, and Solana is paid without mining', async () => {
  const [one, other] = [
    clientOf(await quittance.merchant('one')),
    clientOf(await quittance.merchant('other')),
  ];
  const { id, address, amount } = await one.invoices.create({ asset: 'SOL', amount: '10' });
  await quittance.pay('SOL', address.address, amount);
  const paid = async () => expect((await one.invoices.retrieve(id)).status).toBe('paid');
  await eventually(paid, 20_000, 1_500);
  await expect(other.invoices.retrieve(id)).rejects.toBeInstanceOf(PermissionError);
});

test('settings reach the services', async () => {
  const shop = clientOf(await quittance.merchant());
  const answers = await Promise.allSettled(Array.from({ length: 16 }, () => shop.assets.list()));
  const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  expect(refused).toEqual([expect.any(RateLimitError)]);
});

test('what cannot be paid says why', async () => {
  const address = `0x${'11'.repeat(20)}`;
  const pay = async (asset: string, amount: string) => await quittance.pay(asset as 'ETH', address, amount);
  await expect(pay('DOGE', '1')).rejects.toThrow('there is no asset DOGE, only BTC, ETH');
  await expect(pay('ETH', '1e-3')).rejects.toThrow('1e-3 is no amount of ETH');
  await expect(pay('USDC_ERC20', '0.0000001')).rejects.toThrow('0.0000001 is no amount of USDC_ERC20');
  await expect(pay('BTC', '1')).rejects.toThrow(
    'this sandbox has no node of Bitcoin, so nobody can pay BTC here',
  );
  await expect(quittance.mine(0)).rejects.toThrow('blocks is 0: it must be a whole number from 1 to 10000');
});
