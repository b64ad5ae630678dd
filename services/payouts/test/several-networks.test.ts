import { afterAll, expect, it } from '@jest/globals';
import { openWallet } from '@quittance/chains/evm/wallet';
import { connectRpc, type Rpc } from '@quittance/chains/json-rpc';
import type { AnvilHandle } from '@quittance/engines/anvil';
import type { Chain } from '@quittance/shared/assets';
import { testAnvil } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { runChainWorker } from '../src/operations/run-chain-worker.ts';
import type { PayoutsService } from '../src/service.ts';
import { startWorkers } from '../src/workers.ts';
import { SEED } from './service-client.ts';
import { type ServiceFixture, serviceSuite } from './service-fixture.ts';

/** One service, one seed and two EVM networks, each with a real node. */
let fixture: ServiceFixture;
let service: PayoutsService;
const networks = { ethereum: 31_337, base: 8_453 } as const;
type Network = keyof typeof networks;
const nodes = {} as Record<Network, { anvil: AnvilHandle; rpc: Rpc }>;
const wallet = openWallet(SEED);
const ETHER = 10n ** 18n;
const hex = (value: bigint): string => `0x${value.toString(16)}`;

serviceSuite(async (opened) => {
  fixture = opened;
  for (const network of ['ethereum', 'base'] as const) {
    const anvil = await testAnvil({ chainId: networks[network] });
    const rpc = connectRpc(anvil.rpcUrl);
    nodes[network] = { anvil, rpc };
    await rpc.call('anvil_setBalance', [wallet.hotAddress, hex(10n * ETHER)]);
  }
  fixture.board.set('ETH_BASE', {});
  service = await fixture.start({
    ETHEREUM_RPC_URL: nodes.ethereum.anvil.rpcUrl,
    BASE_RPC_URL: nodes.base.anvil.rpcUrl,
    BASE_CHAIN_ID: String(networks.base),
    ETHEREUM_USDC_ADDRESS: '',
  });
});
afterAll(async () => {
  for (const { anvil, rpc } of Object.values(nodes)) {
    await rpc.close();
    await anvil.stop();
  }
});

const mine = (network: Network, blocks = 1) => nodes[network].rpc.call('anvil_mine', [hex(BigInt(blocks))]);
const balanceOf = async (network: Network, address: string): Promise<bigint> =>
  BigInt(String(await nodes[network].rpc.call('eth_getBalance', [address, 'latest'])));

let recipients = 0;
const newRecipient = () => `0x${(++recipients).toString(16).padStart(8, '0')}${'b7'.repeat(16)}`;

const payout = (asset: 'ETH' | 'ETH_BASE', to = newRecipient()) => fixture.payout(asset, '0.5', to);
const statusOf = async (id: number): Promise<string> => (await fixture.shown(id)).status;

function on(chain: Chain) {
  const found = service.ports.chains.get(chain);
  if (found === undefined) throw new Error(`${chain} is not configured`);
  return found;
}

/** One round of a chain's worker. With `stuckAfterMs` 0 a transaction is stuck as soon as no block includes it. */
const round = (chain: Chain, stuckAfterMs = 180_000) => {
  const { settings } = service.ports;
  const gracePeriods = { ...settings.gracePeriods, stuckAfterMs };
  return runChainWorker({ ...service.ports, settings: { ...settings, gracePeriods } }, on(chain));
};

type Attempt = { tx_hash: string; raw: string; nonce: string; state: string; terms: { max_fee: string } };
const attemptsAt = (id: number): Promise<Attempt[]> =>
  fixture.db.rows(
    `select tx_hash, raw, nonce, state, terms from transactions join payments using (replacement_group)
     where payout_id = $1 order by attempt`,
    [id],
  );

/** A payout that was sent before the fees rose. */
async function stuck(): Promise<{ id: number; to: string }> {
  const made = await payout('ETH');
  await round('ethereum');
  const [first] = await attemptsAt(made.id);
  await nodes.ethereum.rpc.call('anvil_setNextBlockBaseFeePerGas', [
    hex(2n * BigInt(first?.terms.max_fee ?? 0)),
  ]);
  await mine('ethereum');
  expect(await balanceOf('ethereum', made.to)).toBe(0n);
  return made;
}

it('a payout that a real node does not mine is replaced by one that pays more', async () => {
  const { id, to } = await stuck();
  await round('ethereum', 0);
  const attempts = await attemptsAt(id);
  expect(attempts).toHaveLength(2);
  expect(new Set(attempts.map(({ nonce }) => nonce)).size).toBe(1);
  await mine('ethereum', 3);
  await round('ethereum');
  expect(await statusOf(id)).toBe('mined');
  expect((await attemptsAt(id)).map(({ state }) => state)).toEqual(['invalidated', 'mined']);
  expect(await balanceOf('ethereum', to)).toBe(ETHER / 2n);
});

it('a payout that was replaced is settled by its first transaction when a miner includes that one', async () => {
  const { id, to } = await stuck();
  await round('ethereum', 0);
  const [first, second] = await attemptsAt(id);
  await nodes.ethereum.rpc.call('anvil_dropTransaction', [second?.tx_hash]);
  await nodes.ethereum.rpc.call('anvil_setNextBlockBaseFeePerGas', [hex(10n ** 9n)]);
  await nodes.ethereum.rpc.call('eth_sendRawTransaction', [first?.raw]);
  await mine('ethereum', 3);
  await round('ethereum');
  expect(await statusOf(id)).toBe('mined');
  expect((await fixture.shown(id)).tx_hash).toBe(first?.tx_hash);
  expect((await attemptsAt(id)).map(({ state }) => state)).toEqual(['mined', 'invalidated']);
  await mine('ethereum', 3);
  await round('ethereum');
  expect(await balanceOf('ethereum', to)).toBe(ETHER / 2n);
});

it('each network has nonces of its own for the same address, and a node that is down delays only its own network', async () => {
  const workers = startWorkers({
    ...service.ports,
    settings: { ...service.ports.settings, chainWorkerEveryMs: 50 },
  });
  try {
    const both = { ETH: await payout('ETH'), ETH_BASE: await payout('ETH_BASE') };
    await eventually(async () => {
      await Promise.all([mine('ethereum'), mine('base')]);
      expect([await statusOf(both.ETH.id), await statusOf(both.ETH_BASE.id)]).toEqual(['mined', 'mined']);
    }, 30_000);
    expect(await balanceOf('ethereum', both.ETH.to)).toBe(ETHER / 2n);
    expect(await balanceOf('base', both.ETH.to)).toBe(0n);
    expect(await balanceOf('base', both.ETH_BASE.to)).toBe(ETHER / 2n);
    const leases = await fixture.db.rows<{ name: string }>(
      `select name from leases where name like 'chain-worker:%' order by name`,
    );
    expect(leases.map(({ name }) => name)).toEqual([
      `chain-worker:base:${wallet.hotAddress}`,
      `chain-worker:ethereum:${wallet.hotAddress}`,
    ]);

    nodes.ethereum.anvil.pause();
    const waiting = await payout('ETH');
    const other = await payout('ETH_BASE');
    await eventually(async () => {
      await mine('base');
      expect(await statusOf(other.id)).toBe('mined');
    }, 30_000);
    expect(await statusOf(waiting.id)).toBe('pending');
    nodes.ethereum.anvil.resume();
    await eventually(async () => {
      await mine('ethereum');
      expect(await statusOf(waiting.id)).toBe('mined');
    }, 30_000);
    expect(await balanceOf('ethereum', waiting.to)).toBe(ETHER / 2n);
  } finally {
    nodes.ethereum.anvil.resume();
    await workers.stop();
  }
  const spent = await fixture.db.rows<{ chain: string; asset: string }>(
    `select distinct payload->>'chain' as chain, payload->>'asset' as asset from outbox where kind = 'network.spent' order by 1`,
  );
  expect(spent).toEqual([
    { chain: 'base', asset: 'ETH_BASE' },
    { chain: 'ethereum', asset: 'ETH' },
  ]);
});

it('an asset of a network that is not configured, and a token without its contract, cannot be paid', async () => {
  for (const asset of ['POL', 'SOL', 'USDC_ERC20', 'USDC_BASE']) {
    const { status, body } = await fixture.shop.post({ asset, amount: 1, address: newRecipient() });
    expect([status, body.errors]).toEqual([422, { asset: ['The selected asset is invalid.'] }]);
  }
});
