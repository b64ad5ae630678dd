import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { openWallet } from '@quittance/chains/evm/wallet';
import type { AnvilHandle } from '@quittance/engines/anvil';
import { deployTestUsdc } from '@quittance/stack/test-usdc';
import { testAnvil } from '@quittance/testkit/engines';
import { type Customer, ethereumCustomer } from '@quittance/testkit/ethereum-customer';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { type CrashProcess, crashProcess, PATIENCE_MS } from './crash-process.ts';
import { SEED } from './service-client.ts';

/**
 * Checks exactly what a crash leaves in the tables and the outbox of this service, at the failpoints where most work is in
 * flight. test/faults kills a whole stack at every failpoint.
 */
const CONFIRMATIONS = 2;
const DOLLAR = 1_000_000n;

let payouts: CrashProcess;
let anvil: AnvilHandle;
let chain: Customer;
let usdc: string;
const wallet = openWallet(SEED);

jest.setTimeout(patient(3 * PATIENCE_MS));

beforeAll(async () => {
  [payouts, anvil] = await Promise.all([crashProcess(), testAnvil()]);
  usdc = await deployTestUsdc(anvil.rpcUrl);
  chain = ethereumCustomer(anvil.rpcUrl, usdc);
  payouts.on({
    asset: 'ETH',
    quotes: {
      ETH: { min_confirmations: CONFIRMATIONS },
      // Almost no value, so that deposits are swept only when a payout needs them.
      USDC_ERC20: {
        network_fee: '1000000',
        dust: '10000',
        usd_rate: '0.000001',
        min_confirmations: CONFIRMATIONS,
      },
    },
    settings: {
      ETHEREUM_RPC_URL: anvil.rpcUrl,
      ETHEREUM_CHAIN_ID: '31337',
      ETHEREUM_USDC_ADDRESS: usdc,
    },
    mine: () => chain.mine(),
  });
  await chain.pay('ETH', wallet.hotAddress, '100');
  await chain.mine();
});
afterEach(() => {
  payouts.ledger.reply = () => ({ outcome: 'placed' });
});
afterAll(async () => {
  await payouts?.close();
  await anvil?.stop();
});

let recipients = 0;
const newRecipient = () => `0x${(++recipients).toString(16).padStart(8, '0')}${'c7'.repeat(16)}`;

it.each(['payouts.requested', 'payouts.held'])(
  'killed at %s, no payout was accepted, the hold is released and the key is free',
  async (point) => {
    await payouts.start(point);
    const to = newRecipient();
    const id = await payouts.ask('ETH', '0.01', to);
    await payouts.died();
    await payouts.start();
    await payouts.ends(id, 'voided');
    await payouts.expectPublished(id, ['hold.void']);
    expect(await chain.transactions(to)).toEqual([]);
    expect(await payouts.db.rows('select 1 from idempotency_keys where resource_id = $1', [id])).toEqual([]);
  },
);

it('killed at payouts.refused, no event is published and nothing is ever paid', async () => {
  payouts.ledger.reply = () => ({ outcome: 'refused' });
  await payouts.start('payouts.refused');
  const to = newRecipient();
  const id = await payouts.ask('ETH', '0.01', to);
  await payouts.died();
  payouts.ledger.reply = () => ({ outcome: 'placed' });
  await payouts.start();
  await payouts.ends(id, 'refused');
  await payouts.expectPublished(id, []);
  expect(await chain.transactions(to)).toEqual([]);
});

it.each(['evm.payouts.signing', 'evm.payouts.signed', 'evm.payouts.sent', 'evm.payouts.settling'])(
  'killed at %s, a payout has one transaction, the same bytes and one end',
  async (point) => {
    await payouts.start(point);
    const to = newRecipient();
    const id = await payouts.ask('ETH', '0.01', to);
    await payouts.died();
    const before = await payouts.attemptsAt(id);
    expect(before).toHaveLength(point === 'evm.payouts.signing' ? 0 : 1);
    await payouts.start();
    await payouts.ends(id, 'mined');
    expect(await chain.transactions(to)).toHaveLength(1);
    expect(await chain.balance('ETH', to)).toBe(10n ** 16n);
    const after = await payouts.attemptsAt(id);
    expect(after).toHaveLength(1);
    for (const { raw } of before) expect(raw).toBe(after[0]?.raw);
    await payouts.expectPublished(id, ['payout.created', 'hold.settle', 'payout.completed']);
    await payouts.expectSpentOnce();
  },
);

it('killed at payouts.failing, the hold is released once', async () => {
  await payouts.start('payouts.failing');
  // A contract that refuses Ether.
  const id = await payouts.ask('ETH', '0.01', usdc);
  await payouts.died();
  await payouts.start();
  await payouts.ends(id, 'failed');
  expect(await payouts.attemptsAt(id)).toEqual([]);
  await payouts.expectPublished(id, ['payout.created', 'hold.release', 'payout.failed']);
});

let index = 0;

it.each(['evm.sweeps.signing', 'evm.sweeps.signed', 'evm.sweeps.settling'])(
  'killed at %s, there is one sweep and one payout',
  async (point) => {
    await payouts.start(point);
    index += 1;
    const address = wallet.depositAddress(index);
    await chain.pay('USDC_ERC20', address, '50');
    await chain.mine();
    const amount = 50n * DOLLAR;
    const depositId = await payouts.deposit({
      asset: 'USDC_ERC20',
      amount,
      address,
      index,
      outpoint: `0x:${index}`,
    });
    const deposit = `select t.id, h.state from unswept_deposits h left join transactions t on h.sweep_id = t.id
      where h.deposit_id = $1`;
    await eventually(async () => expect(await payouts.db.rows(deposit, [depositId])).toHaveLength(1));
    const to = newRecipient();
    const id = await payouts.ask('USDC_ERC20', '50', to);
    await payouts.died();
    await payouts.start();
    await payouts.ends(id, 'mined');
    expect(await chain.balance('USDC_ERC20', to)).toBe(amount);
    expect(await payouts.db.rows(deposit, [depositId])).toEqual([{ id: expect.any(String), state: 'swept' }]);
    await payouts.expectPublished(id, ['payout.created', 'hold.settle', 'payout.completed']);
  },
);

it('no nonce was skipped or used twice in these crashes', async () => {
  const rows = await payouts.db.rows<{ nonce: string }>(
    'select nonce from transactions where wallet = $1 order by nonce',
    [wallet.hotAddress],
  );
  expect(rows.length).toBeGreaterThan(6);
  expect(rows.map((row) => BigInt(row.nonce))).toEqual(rows.map((_, i) => BigInt(i)));
});
