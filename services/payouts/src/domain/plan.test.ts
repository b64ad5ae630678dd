import { describe, expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { amountOf, type Liquidity } from './liquidity.ts';
import { planRun, type Queued, type Sweepable, sweepsFor } from './plan.ts';

type Amounts = Partial<Record<AssetSymbol, bigint>>;
const amounts = (given: Amounts) =>
  new Map(Object.entries(given).map(([asset, amount]) => [asset as AssetSymbol, units(amount)]));
const aLiquidity = (free: Amounts, incoming: Amounts = {}): Liquidity => ({
  free: amounts(free),
  incoming: amounts(incoming),
});
const eth = (amount: bigint, gasCost = 1n): Queued => ({
  asset: 'ETH',
  amount: units(amount),
  gasCost: units(gasCost),
});
const usdc = (amount: bigint, gasCost = 1n): Queued => ({ ...eth(amount, gasCost), asset: 'USDC_ERC20' });
const ethAt = (net: bigint): Sweepable => ({ asset: 'ETH', net: units(net), gasCost: units(0n) });
const usdcAt = (net: bigint, gasCost = 2n): Sweepable => ({
  asset: 'USDC_ERC20',
  net: units(net),
  gasCost: units(gasCost),
});

describe('a run', () => {
  it('pays in order what the hot wallet covers, fees included', () => {
    const [first, second] = [eth(10n), usdc(5n)];
    expect(planRun('ethereum', [first, second], aLiquidity({ ETH: 12n, USDC_ERC20: 5n }), [])).toEqual({
      pay: [first, second],
      sweep: [],
      waiting: [],
      short: [],
    });
  });

  it('sweeps what the next payout lacks, and not more', () => {
    const payout = eth(10n);
    const [small, large, larger] = [ethAt(3n), ethAt(8n), ethAt(20n)];
    const plan = planRun('ethereum', [payout], aLiquidity({ ETH: 4n }), [small, large, larger]);
    expect(plan).toEqual({ pay: [], sweep: [large], waiting: [payout], short: [] });
  });

  it('sweeps for each payout only what it lacks', () => {
    const held = [ethAt(10n), ethAt(30n), ethAt(5n)];
    const plan = planRun('ethereum', [eth(9n), eth(4n)], aLiquidity({}), held);
    expect(plan.sweep).toEqual([ethAt(10n), ethAt(5n)]);
  });

  it('sweeps one unit for a payout that lacks one, and nothing of a deposit that costs more than it brings', () => {
    const [payout, lost] = [eth(10n), ethAt(-5n)];
    const plan = planRun('ethereum', [payout], aLiquidity({ ETH: 10n }), [lost, ethAt(1n), ethAt(0n)]);
    expect(plan).toMatchObject({ sweep: [ethAt(1n)], waiting: [payout], short: [] });
  });

  it('waits for sweeps in flight instead of making others', () => {
    const payout = eth(10n);
    const plan = planRun('ethereum', [payout], aLiquidity({ ETH: 4n }, { ETH: 7n }), [ethAt(20n)]);
    expect(plan).toEqual({ pay: [], sweep: [], waiting: [payout], short: [] });
  });

  it('does not spend on a later payout what an earlier one waits for', () => {
    const [early, late] = [eth(100n), eth(5n)];
    const plan = planRun('ethereum', [early, late], aLiquidity({ ETH: 50n }, { ETH: 51n }), [ethAt(10n)]);
    expect(plan).toMatchObject({ pay: [], sweep: [ethAt(10n)], waiting: [early, late] });
  });

  it('skips a payout that nothing could cover, reports what is missing, and pays the next', () => {
    const [huge, small] = [eth(1_000n), eth(5n)];
    const plan = planRun('ethereum', [huge, small], aLiquidity({ ETH: 50n }, { ETH: 20n }), [ethAt(30n)]);
    expect(plan.pay).toEqual([small]);
    expect(plan.short).toEqual([{ asset: 'ETH', has: 100n, needs: 1_001n, payouts: 1 }]);
  });

  it('does not sweep Ether to pay the fees of tokens, and reports that the fees are missing', () => {
    const payouts = [usdc(5n, 10n), usdc(6n, 10n)];
    const plan = planRun('ethereum', payouts, aLiquidity({ ETH: 9n, USDC_ERC20: 100n }), [ethAt(1_000n)]);
    expect(plan).toMatchObject({ pay: [], sweep: [], waiting: [] });
    expect(plan.short).toEqual([{ asset: 'ETH', has: 9n, needs: 10n, payouts: 2 }]);
  });

  it('counts the fees of token sweeps, which the hot wallet pays', () => {
    const payout = usdc(100n, 5n);
    const sweeps = [usdcAt(60n, 3n), usdcAt(50n, 3n)];
    expect(planRun('ethereum', [payout], aLiquidity({ ETH: 11n }), sweeps)).toMatchObject({
      sweep: sweeps,
      waiting: [payout],
    });
    expect(planRun('ethereum', [payout], aLiquidity({ ETH: 7n }), sweeps)).toMatchObject({
      sweep: [],
      short: [{ asset: 'ETH', has: 7n, needs: 11n, payouts: 1 }],
    });
  });

  it('makes the sweeps whose fees can be paid, and the payout keeps its turn', () => {
    const payout = usdc(100n, 5n);
    const sweeps = [usdcAt(60n, 3n), usdcAt(50n, 3n)];
    const liquidity = aLiquidity({ ETH: 10n, USDC_ERC20: 3n });
    expect(planRun('ethereum', [payout, usdc(3n, 3n)], liquidity, sweeps)).toEqual({
      pay: [],
      sweep: [sweeps[0]],
      waiting: [payout],
      short: [{ asset: 'ETH', has: 2n, needs: 3n, payouts: 1 }],
    });
  });

  it('makes all given sweeps for a payout that needs more, when further deposits cover it', () => {
    const [payout, later] = [eth(100n), eth(5n)];
    const shown = [ethAt(30n), ethAt(19n), ethAt(1n)];
    const empty = ethAt(0n);
    const beyond = (amount: bigint) => new Map([['ETH' as const, units(amount)]]);
    expect(
      planRun('ethereum', [payout, later], aLiquidity({ ETH: 10n }), [...shown, empty], beyond(41n)),
    ).toEqual({
      pay: [],
      sweep: shown,
      waiting: [payout],
      short: [{ asset: 'ETH', has: 0n, needs: 6n, payouts: 1 }],
    });
    expect(planRun('ethereum', [payout, later], aLiquidity({ ETH: 10n }), shown, beyond(40n))).toMatchObject({
      pay: [later],
      sweep: [],
      short: [{ asset: 'ETH', has: 100n, needs: 101n, payouts: 1 }],
    });
  });

  it('covers a negative liquidity with incoming money first', () => {
    const payout = eth(10n);
    const plan = planRun('ethereum', [payout], aLiquidity({ ETH: -20n }), [ethAt(25n), ethAt(6n)]);
    expect(plan).toMatchObject({ pay: [], sweep: [ethAt(25n), ethAt(6n)], waiting: [payout] });
    const exact = planRun('ethereum', [payout], aLiquidity({ ETH: -20n }), [ethAt(31n), ethAt(30n)]);
    expect(exact.sweep).toEqual([ethAt(31n)]);
  });

  const amount = fc.bigInt({ min: 0n, max: 1_000n });
  const queue = fc.array(
    fc.record({
      asset: fc.constantFrom<AssetSymbol>('ETH', 'USDC_ERC20'),
      amount: amount.map((value) => units(value + 1n)),
      gasCost: amount.map((value) => units(value / 10n)),
    }),
    { maxLength: 12 },
  );
  const sweepable = fc.array(
    fc.oneof(
      amount.map((value) => ethAt(value)),
      fc.tuple(amount, amount).map(([net, gas]) => usdcAt(net, gas / 10n)),
    ),
    { maxLength: 12 },
  );
  const liquidity = fc
    .tuple(amount, amount, amount, amount)
    .map(([a, b, c, d]) => aLiquidity({ ETH: a - 100n, USDC_ERC20: b }, { ETH: c, USDC_ERC20: d }));

  /** What payouts and sweeps take from the hot wallet now. */
  const spent = (asset: AssetSymbol, pay: readonly Queued[], sweep: readonly Sweepable[]): bigint => {
    const own = pay.reduce((sum, one) => sum + (one.asset === asset ? one.amount : 0n), 0n);
    if (asset !== 'ETH') return own;
    return [...pay, ...sweep].reduce((sum, one) => sum + one.gasCost, own);
  };

  it('spends what is free, decides each payout once, covers those that wait, and sweeps nothing twice', async () => {
    await assertProperty(
      fc.property(queue, liquidity, sweepable, amount, (payouts, given, held, beyond) => {
        const more = new Map([['USDC_ERC20' as const, units(beyond)]]);
        const { pay, waiting, sweep, short } = planRun('ethereum', payouts, given, held, more);
        for (const asset of ['ETH', 'USDC_ERC20'] as const) {
          const total = spent(asset, pay, sweep);
          expect(total === 0n || total <= amountOf(given.free, asset)).toBe(true);
        }
        const decided = [...pay, ...waiting];
        expect(new Set(decided).size).toBe(decided.length);
        const missing = short.reduce((sum, one) => sum + one.payouts, 0);
        expect(decided.length + missing).toBe(payouts.length);
        for (const one of short) expect(one.has).toBeLessThan(one.needs);
        expect(new Set(sweep).size).toBe(sweep.length);
        const tokens = decided.filter((one) => one.asset === 'USDC_ERC20');
        const wanted = tokens.reduce((sum, one) => sum + one.amount, 0n);
        // When fees are scarce, not all sweeps are made at once.
        const worth = held.reduce((sum, one) => sum + (one.asset === 'USDC_ERC20' ? one.net : 0n), beyond);
        const there = amountOf(given.free, 'USDC_ERC20') + amountOf(given.incoming, 'USDC_ERC20');
        expect(wanted).toBeLessThanOrEqual(there + worth);
      }),
    );
  });
});

describe('the sweeps for an amount', () => {
  const held = fc.array(
    fc.bigInt({ min: 0n, max: 100n }).map((net) => ethAt(net)),
    { maxLength: 12 },
  );
  const total = (sweeps: readonly Sweepable[]): bigint => sweeps.reduce((sum, one) => sum + one.net, 0n);

  it('are one that brings exactly the amount, when there is one', () => {
    expect(sweepsFor([ethAt(1n)], units(1n))).toEqual([ethAt(1n)]);
    expect(sweepsFor([ethAt(10n), ethAt(5n), ethAt(3n)], units(5n))).toEqual([ethAt(5n)]);
  });

  it('are enough and none too many, or undefined when all together are not enough', async () => {
    await assertProperty(
      fc.property(held, fc.bigInt({ min: 1n, max: 1_000n }), (all, need) => {
        const sweeps = sweepsFor(all, need as Units);
        if (sweeps === undefined) return expect(total(all)).toBeLessThan(need);
        expect(total(sweeps)).toBeGreaterThanOrEqual(need);
        for (const one of sweeps) expect(total(sweeps) - one.net).toBeLessThan(need);
      }),
    );
  });
});
