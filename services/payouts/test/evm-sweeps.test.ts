import { beforeEach, describe, expect, it } from '@jest/globals';
import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { FeeEstimate } from '@quittance/shared/quotes';
import { depositAddress, HOT } from '@quittance/testkit/scripted-evm-sender';
import { publishFees } from '../src/operations/publish-fees.ts';
import { CONFIRMATIONS, ETHER, engineSuite } from './engine-fixture.ts';
import { MAX_FEE } from './scripted-chain.ts';
import { TestBoard } from './service-client.ts';

/** Sweeps that payouts need, and the deposits they bring. */
const fixture = engineSuite();

describe('a sweep', () => {
  it('of Ether brings what a payout lacks, and the payout waits until the sweep is confirmed', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.deposit(1, 'ETH', 3n * ETHER);
    await fixture.deposit(2, 'ETH', 2n * ETHER);
    const { id } = await fixture.reserve({ amount: 2n * ETHER });
    expect(await fixture.run()).toBe(1);
    expect(await fixture.transactions()).toMatchObject([
      { purpose: 'sweep', wallet: depositAddress(2), nonce: '0', asset: 'ETH' },
    ]);
    fixture.chain.mine(CONFIRMATIONS - 1);
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(1);
    fixture.chain.mine();
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    await fixture.expectPaid({ id });
    expect(await fixture.db.rows('select state from unswept_deposits order by derivation_index')).toEqual([
      { state: 'held' },
      { state: 'swept' },
    ]);
  });

  it.each(['ETH', 'USDC_ERC20'] as const)(
    'of %s that is mined between reading transactions and balances is not spent yet',
    async (asset) => {
      const amount = asset === 'ETH' ? 3n * ETHER : 3_000_000n;
      fixture.chain.fund('ETH', HOT, ETHER);
      await fixture.deposit(1, asset, amount);
      await fixture.send({ asset, amount: amount - amount / 10n });
      expect(await fixture.transactions()).toMatchObject([{ purpose: 'sweep', state: 'broadcast' }]);
      const { sender } = fixture.chain;
      let isMined = false;
      const balance: typeof sender.balance = async (...given) => {
        if (!isMined) fixture.chain.mine();
        isMined = true;
        return sender.balance(...given);
      };
      await fixture.runWith({ balance });
      expect(isMined).toBe(true);
      expect(await fixture.transactions()).toHaveLength(1);
      await fixture.finish();
      expect(await fixture.transactions()).toMatchObject([
        { state: 'mined' },
        { purpose: 'payout', state: 'mined' },
      ]);
    },
  );

  it('of tokens is sent and paid for by the hot wallet', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.deposit(1, 'USDC_ERC20', 7_000_000n);
    await fixture.deposit(1, 'USDC_ERC20', 5_000_000n);
    const { id } = await fixture.reserve({ asset: 'USDC_ERC20', amount: 10_000_000n });
    await fixture.expectPaid({ id });
    expect(await fixture.transactions()).toMatchObject([
      { purpose: 'sweep', wallet: HOT, nonce: '0', amount: '12000000', swept_address: depositAddress(1) },
      { purpose: 'payout', wallet: HOT, nonce: '1' },
    ]);
    expect(fixture.chain.balance('USDC_ERC20', HOT)).toBe(2_000_000n);
  });

  it('is repeated after a pause when the token refused it', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.deposit(1, 'USDC_ERC20', 7_000_000n);
    const { id } = await fixture.reserve({ asset: 'USDC_ERC20', amount: 7_000_000n });
    fixture.chain.refusing.add(HOT);
    await fixture.run();
    fixture.chain.mine(CONFIRMATIONS + fixture.chain.finalizedLag);
    await fixture.run();
    await fixture.run();
    expect(await fixture.transactions()).toMatchObject([{ purpose: 'sweep', state: 'reverted' }]);
    expect(await fixture.db.one('select state, sweep_id from unswept_deposits')).toEqual({
      state: 'held',
      sweep_id: null,
    });
    fixture.chain.refusing.clear();
    await fixture.db.rows(`update unswept_deposits set retry_at = now() - interval '1 second'`);
    await fixture.expectPaid({ id });
  });

  it('of deposits that the chain does not have is not tried, and an error is logged', async () => {
    const payload = fixture.depositPayload(4, 'ETH', 5n * ETHER);
    await fixture.deposit(4, 'ETH', ETHER);
    await fixture.db.rows(`update unswept_deposits set amount = $1`, [payload.amount]);
    await fixture.send();
    expect(await fixture.transactions()).toEqual([]);
    fixture.expectLogged({ level: 'error', has: '1', settled: '5' });
  });

  it('of an address whose key is not ours is replaced by another one, and an error is logged', async () => {
    await fixture.deposit(1, 'ETH', 5n * ETHER, `0x${'99'.repeat(20)}`);
    await fixture.deposit(2, 'ETH', 3n * ETHER);
    const { id } = await fixture.reserve();
    await fixture.db.rows(`update unswept_deposits set amount = 1.5e18 where derivation_index = 1`);
    await fixture.finish();
    await fixture.expectPaid({ id });
    fixture.expectLogged({
      level: 'error',
      msg: 'the signer refuses a transaction',
      foreign: [`0x${'99'.repeat(20)}`],
    });
    const addresses = (await fixture.transactions()).map((one) => one['swept_address']);
    expect(addresses).toEqual([depositAddress(2), null]);
  });

  it('for which the signer had no time is signed in the next round, and no refusal is logged', async () => {
    await fixture.depositMany(1, 2, 3n * ETHER);
    const { id } = await fixture.reserve({ amount: 5n * ETHER });
    fixture.refusedAfterTheFirst('the request has taken its time', 0);
    await fixture.run();
    const sweeps = async () => (await fixture.transactions()).filter(({ purpose }) => purpose === 'sweep');
    expect(await sweeps()).toHaveLength(1);
    await fixture.run();
    expect(await sweeps()).toHaveLength(2);
    expect(fixture.lines.filter(({ msg }) => msg === 'the signer refuses a transaction')).toEqual([]);
    await fixture.expectPaid({ id });
  });

  it('for which a process asks the signer late is left to another process, which signs it at once', async () => {
    await fixture.depositMany(1, 2, 3n * ETHER);
    const { id } = await fixture.reserve({ amount: 5n * ETHER });
    fixture.refusedAfterTheFirst('the question came late', 1_000);
    const states = async () => (await fixture.transactions()).map(({ state }) => state);
    await fixture.run(fixture.replica());
    expect(await states()).toEqual(['broadcast']);
    await fixture.run();
    expect(await states()).toEqual(['broadcast', 'broadcast']);
    await fixture.expectPaid({ id });
  });

  it.each([1, 60])(
    'that the signer refuses for %i s is tried again after ten times that',
    async (seconds) => {
      await fixture.depositMany(1, 2, 3n * ETHER);
      await fixture.reserve({ amount: 5n * ETHER });
      fixture.refusedAfterTheFirst('something did not answer', seconds * 1_000);
      await fixture.run();
      const again = new Date(fixture.clock.now().getTime() + 10 * seconds * 1_000);
      const left = await fixture.db.rows('select retry_at from unswept_deposits where retry_at is not null');
      expect(left).toEqual([{ retry_at: again }]);
    },
  );

  it('of less than it costs is not made', async () => {
    await fixture.deposit(1, 'ETH', 2n * 21_000n * MAX_FEE);
    await fixture.send({ amount: 1_000n });
    expect(await fixture.transactions()).toEqual([]);
  });

  it('is not signed for a deposit that was reversed since it was planned, and no nonce is taken', async () => {
    const deposit = await fixture.deposit(1, 'USDC_ERC20', 5_000_000n);
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.reserve({ asset: 'USDC_ERC20', amount: 5_000_000n });
    const { sender } = fixture.chain;
    const reversing: typeof sender.balance = async (asset, address) => {
      if (address === depositAddress(1)) await fixture.reversed(deposit);
      return sender.balance(asset, address);
    };
    await fixture.runWith({ balance: reversing });
    expect(await fixture.transactions()).toEqual([]);
    expect(await fixture.db.one('select next_nonce from wallets')).toEqual({ next_nonce: '0' });
  });

  it('of a reversed deposit does not make a payout wait', async () => {
    const deposit = await fixture.deposit(1, 'ETH', 5n * ETHER);
    await fixture.deposit(2, 'ETH', 6n * ETHER);
    const { id } = await fixture.reserve({ amount: 4n * ETHER });
    fixture.chain.fates.push('lose_bytes');
    await fixture.run();
    await fixture.reversed(deposit);
    await fixture.expectPaid({ id });
    expect((await fixture.transactions()).map((one) => one['swept_address'])).toContain(depositAddress(2));
  });
});

describe('a payout that needs more deposits than one round plans', () => {
  it('is paid after several rounds of sweeps', async () => {
    fixture.chain.fund('ETH', HOT, ETHER / 1_000n);
    await fixture.depositMany(0, 210, ETHER / 10n);
    const { id } = await fixture.reserve({ amount: (205n * ETHER) / 10n });
    expect(await fixture.run()).toBe(200);
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.finish();
    await fixture.expectPaid({ id });
  });

  it('gets the sweeps whose fees can be paid now, and waits for the others', async () => {
    const gas = (TOKEN_SWEEP_GAS + 90_000n) * MAX_FEE;
    fixture.chain.fund('ETH', HOT, gas);
    for (const index of [1, 2]) await fixture.deposit(index, 'USDC_ERC20', 6_000_000n);
    const { id } = await fixture.reserve({ asset: 'USDC_ERC20', amount: 10_000_000n });
    expect(await fixture.run()).toBe(1);
    expect(await fixture.transactions()).toMatchObject([{ purpose: 'sweep', state: 'broadcast' }]);
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.finish();
    await fixture.expectPaid({ id });
  });
});

describe('deposits', () => {
  it('are stored once, however often the event arrives, and refuse other contents', async () => {
    const payload = await fixture.deposit(1, 'ETH', ETHER);
    await fixture.settled(payload);
    expect(await fixture.db.rows('select 1 from unswept_deposits')).toHaveLength(1);
    await expect(fixture.settled({ ...payload, amount: '5' })).rejects.toThrow('other contents');
  });

  it('are never counted when their reversal arrives first', async () => {
    const payload = fixture.depositPayload(1, 'ETH', 9n * ETHER);
    await fixture.reversed(payload);
    await fixture.settled(payload);
    await fixture.send();
    expect(await fixture.transactions()).toEqual([]);
    const reversed = { reversed_at: expect.any(Date) };
    expect(await fixture.db.one('select reversed_at from unswept_deposits')).toEqual(reversed);
  });
});

/** Economical sweeps, and the fees that are published. */
describe('a chain worker with prices', () => {
  let board: TestBoard;
  beforeEach(() => {
    board = new TestBoard();
    board.set('USDC_ERC20', { usd_rate: '1', min_confirmations: 2 });
    fixture.ports.quotes = board;
  });

  const swept = () =>
    fixture.db.rows(
      `select swept_address, asset, min_confirmations from transactions where purpose = 'sweep' order by id`,
    );

  it('deposits that no payout needs are swept when the fee is a small part of them', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.deposit(1, 'USDC_ERC20', 5_000_000n);
    await fixture.deposit(2, 'ETH', ETHER);
    // 21,000 gas at 10 wei.
    await fixture.deposit(3, 'ETH', 150n * 21_000n * MAX_FEE);
    await fixture.run();
    expect(await swept()).toEqual([
      { swept_address: depositAddress(2), asset: 'ETH', min_confirmations: 3 },
      { swept_address: depositAddress(1), asset: 'USDC_ERC20', min_confirmations: 2 },
    ]);
    await fixture.finish();
    expect(await swept()).toHaveLength(2);
    expect(fixture.chain.balance('USDC_ERC20', HOT)).toBe(5_000_000n);
  });

  it('no economical sweep is made without fresh prices, at a high price of gas, or while payouts wait', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.deposit(1, 'USDC_ERC20', 5_000_000n);
    board.isFresh = false;
    await fixture.run();
    board.isFresh = true;
    // 150,000 gas at this price are more than three cents, for five dollars.
    fixture.chain.leastFee = 10n ** 8n;
    await fixture.run();
    fixture.chain.leastFee = MAX_FEE;
    await fixture.reserve({ amount: 1_000n * ETHER });
    await fixture.run();
    expect(await swept()).toEqual([]);
  });

  it('economical sweeps are made a few at a time, each address once', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    for (let index = 0; index < 7; index++) await fixture.deposit(index, 'USDC_ERC20', 5_000_000n);
    await fixture.deposit(0, 'USDC_ERC20', 1_000_000n);
    await fixture.run();
    expect(await swept()).toHaveLength(5);
    await fixture.run();
    await fixture.run();
    expect(await swept()).toHaveLength(7);
  });

  it('the cost of payouts is published, also when another asset cannot be estimated', async () => {
    const told: FeeEstimate[] = [];
    const estimatedFee = async (asset: AssetSymbol) => {
      if (asset === 'ETH') throw new Error('the node stumbles');
      return fixture.chain.sender.estimatedFee(asset);
    };
    const publish = async (estimates: readonly FeeEstimate[]) => void told.push(...estimates);
    await publishFees(fixture.replicaWith({ estimatedFee }), publish);
    const as_of = fixture.clock.now().toISOString();
    expect(told).toEqual([{ asset: 'USDC_ERC20', chain: 'ethereum', native_cost: '210000', as_of }]);
  });
});
