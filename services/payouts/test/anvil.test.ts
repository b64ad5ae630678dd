import { afterAll, expect, it } from '@jest/globals';
import { openWallet } from '@quittance/chains/evm/wallet';
import type { AnvilHandle } from '@quittance/engines/anvil';
import type { AssetSymbol } from '@quittance/shared/assets';
import { newDepositId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { deployTestUsdc } from '@quittance/stack/test-usdc';
import { testAnvil } from '@quittance/testkit/engines';
import { type Customer, ethereumCustomer } from '@quittance/testkit/ethereum-customer';
import { eventually } from '@quittance/testkit/eventually';
import { insertDepositsOnce } from '../src/store/unswept-deposits.ts';
import { SEED } from './service-client.ts';
import { type ServiceFixture, serviceSuite } from './service-fixture.ts';

/** Two replicas with their workers on a real node. */
let fixture: ServiceFixture;
let anvil: AnvilHandle;
let chain: Customer;
let usdc: string;
const wallet = openWallet(SEED);
const ETHER = 10n ** 18n;
/** Anvil's own: a block is final two epochs later. */
const SLOTS_IN_AN_EPOCH = 32;

serviceSuite(async (opened) => {
  fixture = opened;
  anvil = await testAnvil();
  usdc = await deployTestUsdc(anvil.rpcUrl);
  chain = ethereumCustomer(anvil.rpcUrl, usdc);
  await Promise.all([start(), start()]);
  await chain.pay('ETH', wallet.hotAddress, '5');
  await chain.mine();
});
afterAll(() => anvil?.stop());

const start = (settings: Record<string, string> = {}) =>
  fixture.start(
    {
      ETHEREUM_RPC_URL: anvil.rpcUrl,
      ETHEREUM_USDC_ADDRESS: usdc,
      PAYOUTS_EVERY_MS: '50',
      ...settings,
    },
    { workers: true },
  );

let recipients = 0;
const newRecipient = () => `0x${(++recipients).toString(16).padStart(8, '0')}${'a7'.repeat(16)}`;

const payout = (asset: AssetSymbol, amount: string, to = newRecipient()) => fixture.payout(asset, amount, to);
const ended = (id: number) => fixture.ended(id, () => chain.mine());

let index = 0;
async function deposit(asset: AssetSymbol, whole: string, amount: bigint): Promise<string> {
  index += 1;
  const address = wallet.depositAddress(index);
  await chain.pay(asset, address, whole);
  await chain.mine();
  const deposited = {
    depositId: newDepositId(new Date()),
    chain: 'ethereum',
    address,
    derivationIndex: index,
    outpoint: `0x:${index}`,
    account: null,
    invoiceId: null,
    disposition: null,
  } as const;
  await fixture.db.transaction((trx) =>
    insertDepositsOnce(trx, [{ ...deposited, asset, amount: units(amount) }]),
  );
  return address;
}

it('pays Ether from the hot wallet', async () => {
  const { id, to } = await payout('ETH', '0.5');
  const { status, tx_hash } = await ended(id);
  expect(status).toBe('mined');
  expect(await chain.transactions(to)).toEqual([tx_hash]);
  expect(await chain.balance('ETH', to)).toBe(ETHER / 2n);
});

it('pays tokens that must be swept first', async () => {
  const address = await deposit('USDC_ERC20', '300', 300_000_000n);
  const { id, to } = await payout('USDC_ERC20', '250.000001');
  expect((await ended(id)).status).toBe('mined');
  expect(await chain.balance('USDC_ERC20', to)).toBe(250_000_001n);
  expect(await chain.balance('USDC_ERC20', address)).toBe(0n);
});

it('pays Ether that must be swept first', async () => {
  const address = await deposit('ETH', '20', 20n * ETHER);
  const { id, to } = await payout('ETH', '15');
  expect((await ended(id)).status).toBe('mined');
  expect(await chain.balance('ETH', to)).toBe(15n * ETHER);
  expect(await chain.balance('ETH', address)).toBeLessThan(ETHER / 1_000n);
});

it('many simultaneous payouts through both replicas are paid once each, with nonces without a gap', async () => {
  const payouts = await Promise.all(Array.from({ length: 16 }, () => payout('ETH', '0.01')));
  for (const { id, to } of payouts) {
    expect((await ended(id)).status).toBe('mined');
    expect(await chain.balance('ETH', to)).toBe(ETHER / 100n);
    expect(await chain.transactions(to)).toHaveLength(1);
  }
  const rows = await fixture.db.rows<{ nonce: string }>(
    `select nonce, fence from transactions where wallet = $1 order by nonce`,
    [wallet.hotAddress],
  );
  expect(rows.map((row) => BigInt(row.nonce))).toEqual(rows.map((_, i) => BigInt(i)));
  expect(new Set(payouts.map(({ id }) => id)).size).toBe(16);
});

it('a payout to a contract that refuses Ether fails before anything is signed', async () => {
  const { id } = await payout('ETH', '0.01', usdc);
  const { status, tx_hash, failed_reason } = await ended(id);
  expect([status, tx_hash]).toEqual(['failed', null]);
  expect(failed_reason).toMatch(/does not accept/);
});

it('a payout in dropped final blocks is sent again, and the payouts after it are paid', async () => {
  const first = await payout('ETH', '0.04');
  const { tx_hash } = await ended(first.id);
  await chain.mine(2 * SLOTS_IN_AN_EPOCH + 1);
  await eventually(async () => {
    await fixture.db.rows('update transactions set looked_at = null');
    expect(await fixture.db.rows('select from transactions where final_at is null')).toEqual([]);
  });
  const { height } = await fixture.db.one<{ height: string }>(
    'select block_height as height from transactions where tx_hash = $1',
    [tx_hash],
  );
  await chain.dropBlocks((await chain.height()) - Number(height) + 1); // eslint-disable-line no-restricted-syntax -- a height
  expect(await chain.balance('ETH', first.to)).toBe(0n);
  const later = await payout('ETH', '0.05');
  expect((await ended(later.id)).status).toBe('mined');
  expect(await chain.transactions(first.to)).toEqual([tx_hash]);
  expect(await chain.transactions(later.to)).toHaveLength(1);
});

it('payouts are accepted while the node hangs, and paid when it answers again', async () => {
  anvil.pause();
  const { id, to } = await payout('ETH', '0.03');
  expect(await fixture.shown(id)).toMatchObject({ status: 'pending', tx_hash: null });
  anvil.resume();
  expect((await ended(id)).status).toBe('mined');
  expect(await chain.transactions(to)).toHaveLength(1);
});

it('a replica with a node of another network does not start, and names the setting', async () => {
  await expect(start({ ETHEREUM_CHAIN_ID: '1' })).rejects.toMatchObject({
    name: 'ConfigError',
    problems: [expect.stringMatching(/^ETHEREUM_RPC_URL: .*chain 31337/)],
  });
});
