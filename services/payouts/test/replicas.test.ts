import { afterAll, describe, expect, it } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet } from '@quittance/chains/evm/wallet';
import { connectRpc, type Rpc } from '@quittance/chains/json-rpc';
import type { AnvilHandle } from '@quittance/engines/anvil';
import type { BitcoindHandle } from '@quittance/engines/bitcoind';
import type { AssetSymbol } from '@quittance/shared/assets';
import { deployTestUsdc } from '@quittance/stack/test-usdc';
import { bitcoinCustomer } from '@quittance/testkit/bitcoin-customer';
import { testAnvil, testBitcoind } from '@quittance/testkit/engines';
import { type Customer, ethereumCustomer } from '@quittance/testkit/ethereum-customer';
import { eventually } from '@quittance/testkit/eventually';
import { runChainWorker } from '../src/operations/run-chain-worker.ts';
import type { PayoutsService } from '../src/service.ts';
import { SEED } from './service-client.ts';
import { serviceSuite } from './service-fixture.ts';

/** Replicas of one service, with one seed, on real nodes: Bitcoin and two EVM networks. */
let bitcoin: BitcoindHandle;
let ethereum: AnvilHandle;
let base: AnvilHandle;
let rpc: Rpc;
let usdc: string;
let onEthereum: Customer;
let onBase: Customer;
const wallet = openWallet(SEED);
const bitcoinWallet = openBitcoinWallet('regtest', SEED);
const ETHER = 10n ** 18n;
const BASE_CHAIN_ID = 8_453;
/** Anvil's own: a block is final two epochs later. */
const SLOTS_IN_AN_EPOCH = 32;
const hex = (value: bigint): string => `0x${value.toString(16)}`;

const fixture = serviceSuite(async () => {
  bitcoin = await testBitcoind();
  ethereum = await testAnvil();
  base = await testAnvil({ chainId: BASE_CHAIN_ID });
  usdc = await deployTestUsdc(ethereum.rpcUrl);
  rpc = connectRpc(ethereum.rpcUrl);
  onEthereum = ethereumCustomer(ethereum.rpcUrl, usdc);
  onBase = ethereumCustomer(base.rpcUrl, usdc);
  for (const { rpcUrl } of [ethereum, base]) {
    const node = connectRpc(rpcUrl);
    await node.call('anvil_setBalance', [wallet.hotAddress, hex(10n * ETHER)]);
    await node.close();
  }
  await bitcoin.pay(bitcoinWallet.hotAddress, '2');
  await bitcoin.mine(1);
  fixture.board.set('ETH_BASE', {});
  fixture.board.set('BTC', { network_fee: '2000', dust: '1000', min_confirmations: 2 });
});
afterAll(async () => {
  await rpc?.close();
  await Promise.all([bitcoin?.stop(), ethereum?.stop(), base?.stop()]);
});

const start = (workers: boolean) =>
  fixture.start(
    {
      BITCOIN_RPC_URL: bitcoin.rpcUrl,
      BITCOIN_NETWORK: 'regtest',
      ETHEREUM_RPC_URL: ethereum.rpcUrl,
      ETHEREUM_USDC_ADDRESS: usdc,
      BASE_RPC_URL: base.rpcUrl,
      BASE_CHAIN_ID: String(BASE_CHAIN_ID),
      PAYOUTS_EVERY_MS: '50',
    },
    { workers },
  );

let recipients = 0;
const newRecipient = (): string => `0x${(++recipients).toString(16).padStart(8, '0')}${'a7'.repeat(16)}`;
const payout = (asset: AssetSymbol, amount: string, to = newRecipient()) => fixture.payout(asset, amount, to);
const ended = (id: number) => fixture.ended(id, () => onEthereum.mine());

describe('a payout that a real node does not mine', () => {
  let service: PayoutsService;

  /** One round. With `stuckAfterMs` 0 a transaction is stuck as soon as no block includes it. */
  const round = (stuckAfterMs = 180_000) => {
    const { chains, settings } = service.ports;
    const chain = chains.get('ethereum');
    if (chain === undefined) throw new Error('Ethereum is not configured');
    const gracePeriods = { ...settings.gracePeriods, stuckAfterMs };
    return runChainWorker({ ...service.ports, settings: { ...settings, gracePeriods } }, chain);
  };

  type Attempt = { tx_hash: string; raw: string; nonce: string; state: string; terms: { max_fee: string } };
  const attemptsAt = (id: number): Promise<Attempt[]> =>
    fixture.db.rows(
      `select tx_hash, raw, nonce, state, terms from transactions join payments using (replacement_group)
       where payout_id = $1 order by attempt`,
      [id],
    );
  const nextFee = (fee: bigint) => rpc.call('anvil_setNextBlockBaseFeePerGas', [hex(fee)]);

  it.each([
    ['is replaced by one that pays more', 'second'],
    ['is settled by its first transaction when a miner includes that one', 'first'],
  ] as const)('%s', async (_, includes) => {
    service ??= await start(false);
    const { id, to } = await payout('ETH', '0.5');
    await round();
    const [sent] = await attemptsAt(id);
    await nextFee(2n * BigInt(sent?.terms.max_fee ?? 0));
    await onEthereum.mine();
    expect(await onEthereum.balance('ETH', to)).toBe(0n);
    await round(0);
    const attempts = await attemptsAt(id);
    const [first, second] = attempts;
    expect(attempts).toHaveLength(2);
    expect(second?.nonce).toBe(first?.nonce);
    if (includes === 'first') {
      await rpc.call('anvil_dropTransaction', [second?.tx_hash]);
      await nextFee(10n ** 9n);
      await rpc.call('eth_sendRawTransaction', [first?.raw]);
    }
    await onEthereum.mine(3);
    await round();
    const mined = includes === 'first' ? first : second;
    expect(await fixture.shown(id)).toMatchObject({ status: 'mined', tx_hash: mined?.tx_hash });
    const states = includes === 'first' ? ['mined', 'invalidated'] : ['invalidated', 'mined'];
    expect((await attemptsAt(id)).map(({ state }) => state)).toEqual(states);
    await onEthereum.mine(3);
    await round();
    expect(await onEthereum.balance('ETH', to)).toBe(ETHER / 2n);
  });
});

it('signs and sends nothing while its node serves another network, and pays when it serves the right one again', async () => {
  await fixture.stopReplicas();
  await fixture.db.rows(`update leases set expires_at = now()`);
  const service = await start(true);
  const moveTo = (chainId: number) => rpc.call('anvil_setChainId', [chainId]);
  const why = () => service.ports.chains.get('ethereum')?.signingPause.reason;
  try {
    await moveTo(1);
    const { id, to } = await payout('ETH', '0.01');
    await eventually(async () =>
      expect(why()).toBe(
        'the node is on chain 1, configured is 31337: correct ETHEREUM_RPC_URL, or the settings of the network',
      ),
    );
    const signed = 'select 1 from payments where payout_id = $1';
    expect(await fixture.db.rows(signed, [id])).toEqual([]);
    await moveTo(31_337);
    expect((await ended(id)).status).toBe('mined');
    expect(await onEthereum.balance('ETH', to)).toBe(ETHER / 100n);
    expect(await fixture.db.rows(signed, [id])).toHaveLength(1);
    expect(why()).toBeUndefined();
  } finally {
    await moveTo(31_337);
  }
});

describe('two replicas with their workers', () => {
  it('pay many simultaneous payouts once each, with nonces without a gap', async () => {
    await fixture.stopReplicas();
    await fixture.db.rows(`update leases set expires_at = now()`);
    await Promise.all([start(true), start(true)]);
    const payouts = await Promise.all(Array.from({ length: 16 }, () => payout('ETH', '0.01')));
    for (const { id, to } of payouts) {
      expect((await ended(id)).status).toBe('mined');
      expect(await onEthereum.balance('ETH', to)).toBe(ETHER / 100n);
      expect(await onEthereum.transactions(to)).toHaveLength(1);
    }
    const rows = await fixture.db.rows<{ nonce: string }>(
      `select distinct nonce from transactions where wallet = $1 order by nonce`,
      [wallet.hotAddress],
    );
    expect(rows.map((row) => BigInt(row.nonce))).toEqual(rows.map((_, i) => BigInt(i)));
    expect(new Set(payouts.map(({ id }) => id)).size).toBe(16);
  });

  it('pay many simultaneous payouts of Bitcoin once each, with few transactions', async () => {
    const to = (index: number) => bitcoinWallet.address('deposit', index);
    const payouts = await Promise.all(Array.from({ length: 25 }, (_, i) => payout('BTC', '0.01', to(i))));
    for (const { id } of payouts) {
      expect((await fixture.ended(id, () => bitcoin.mine(1))).status).toBe('mined');
    }
    const customer = bitcoinCustomer(bitcoin);
    for (const one of payouts) {
      expect(await customer.balance('BTC', one.to)).toBe(1_000_000n);
    }
    const mined = `select 1 from transactions where chain = 'bitcoin' and state = 'mined'`;
    expect((await fixture.db.rows(mined)).length).toBeLessThanOrEqual(5);
  });

  it('fail a payout to a contract that refuses Ether before anything is signed', async () => {
    const { id } = await payout('ETH', '0.01', usdc);
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      tx_hash: null,
      failed_reason: expect.stringMatching(/does not accept/),
    });
  });

  it('send a payout in dropped final blocks again, and pay the payouts after it', async () => {
    const first = await payout('ETH', '0.04');
    const { tx_hash } = await ended(first.id);
    await onEthereum.mine(2 * SLOTS_IN_AN_EPOCH + 1);
    const sent = `from transactions where chain = 'ethereum' and state = 'mined'`;
    await eventually(async () => {
      await fixture.db.rows('update transactions set looked_at = null');
      expect(await fixture.db.rows(`select ${sent} and final_at is null`)).toEqual([]);
    });
    const { height } = await fixture.db.one<{ height: string }>(
      `select block_height as height ${sent} and tx_hash = $1`,
      [tx_hash],
    );
    await onEthereum.dropBlocks((await onEthereum.height()) - Number(height) + 1); // eslint-disable-line no-restricted-syntax -- a height
    expect(await onEthereum.balance('ETH', first.to)).toBe(0n);
    const later = await payout('ETH', '0.05');
    expect((await ended(later.id)).status).toBe('mined');
    expect(await onEthereum.transactions(first.to)).toEqual([tx_hash]);
    expect(await onEthereum.transactions(later.to)).toHaveLength(1);
  });

  it('pay on each network with nonces of its own, and accept payouts of a network whose node hangs', async () => {
    for (const node of [bitcoin, ethereum]) node.pause();
    const late = newRecipient();
    const waiting = [
      await payout('ETH', '0.5', late),
      await payout('BTC', '0.3', bitcoinWallet.address('deposit', 25)),
    ];
    const other = await payout('ETH_BASE', '0.5', late);
    expect((await fixture.ended(other.id, () => onBase.mine())).status).toBe('mined');
    expect(await onBase.balance('ETH', late)).toBe(ETHER / 2n);
    for (const { id } of waiting) {
      expect(await fixture.shown(id)).toMatchObject({ status: 'pending', tx_hash: null });
    }
    for (const node of [bitcoin, ethereum]) node.resume();
    const mine = () => Promise.all([onEthereum.mine(), bitcoin.mine(1)]);
    for (const { id } of waiting) expect((await fixture.ended(id, mine)).status).toBe('mined');
    expect(await onEthereum.balance('ETH', late)).toBe(ETHER / 2n);
    expect(await bitcoinCustomer(bitcoin).balance('BTC', waiting[1]?.to ?? '')).toBe(30_000_000n);
    expect(await onBase.transactions(late)).toHaveLength(1);
    const leases = await fixture.db.rows<{ name: string }>(
      `select name from leases where name like 'chain-worker:%:0x%' order by name`,
    );
    expect(leases.map(({ name }) => name)).toEqual([
      `chain-worker:base:${wallet.hotAddress}`,
      `chain-worker:ethereum:${wallet.hotAddress}`,
    ]);
    const spent = await fixture.db.rows<{ chain: string; asset: string }>(
      `select distinct payload->>'chain' as chain, payload->>'asset' as asset from outbox where kind = 'network.spent' order by 1`,
    );
    expect(spent).toEqual([
      { chain: 'base', asset: 'ETH_BASE' },
      { chain: 'bitcoin', asset: 'BTC' },
      { chain: 'ethereum', asset: 'ETH' },
    ]);
  });
});

it('an asset of a network that is not configured, and a token without its contract, cannot be paid', async () => {
  for (const asset of ['POL', 'SOL', 'USDC_BASE']) {
    const { status, body } = await fixture.shop.post({ asset, amount: 1, address: newRecipient() });
    expect([status, body.errors]).toEqual([422, { asset: ['The selected asset is invalid.'] }]);
  }
});
