import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import { type Bucket, connectBus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { type Lease, releaseLease, takeLease } from '@quittance/shared/lease';
import { rateFromSource } from '@quittance/shared/money';
import {
  type FiatRate,
  type FiatRateBoard,
  type Quote,
  type QuoteBoard,
  watchFiatRates,
  watchQuotes,
} from '@quittance/shared/quotes';
import { eventually } from '@quittance/testkit/eventually';
import type { Rated, Reading } from '../src/domain/quote.ts';
import { refreshQuotes } from '../src/operations/refresh-quotes.ts';
import type { Ports } from '../src/ports.ts';
import { fixedPrices } from './fixed-prices.ts';
import { logger, openLedger } from './ledger-fixture.ts';

const { fixture, one } = openLedger();
let board: QuoteBoard;
let fiatBoard: FiatRateBoard;
let kv: Bucket;
let lease: Lease;
let stopBoard: () => Promise<void>;
beforeAll(async () => {
  const bus = await connectBus({ url: fixture.natsUrl, service: 'invoices', logger });
  board = watchQuotes(bus, systemClock, logger, 60_000);
  fiatBoard = watchFiatRates(bus, systemClock, logger, 60_000);
  kv = await bus.kv('quotes');
  stopBoard = async () => {
    await Promise.all([board.stop(), fiatBoard.stop()]);
    await bus.close();
  };
  lease = (await takeLease(fixture.db, 'quotes', 'this test', 600_000)) as Lease;
});
afterAll(() => stopBoard());

function aReading(source: string, price: string, symbol: Rated = 'ETH', readAt = new Date()): Reading {
  const rate = rateFromSource(price);
  if (rate === undefined) throw new Error(`no rate: ${price}`);
  return { source, symbol, rate, readAt };
}

const refresh = (readings: readonly Reading[], sourcesMin = 1) =>
  refreshQuotes({ ...one.ports, prices: fixedPrices(readings, sourcesMin) }, lease);

/** What is published of an asset now. */
const latest = async (asset: AssetSymbol) => (await kv.get(asset))?.json<Quote>();
const feesOf = (...assets: AssetSymbol[]) =>
  Promise.all(assets.map(async (asset) => (await latest(asset))?.network_fee));

describe('quotes', () => {
  it('are told of every asset, active or not, with a rate or without', async () => {
    await refresh([aReading('a', '2500')]);
    await eventually(() => expect(board.latest('ETH')?.usd_rate).toBe('2500'));
    await eventually(() => expect(board.latest('BTC')).toBeDefined());
    expect(board.fresh('ETH')).toMatchObject({
      asset: 'ETH',
      active: true,
      network_fee: '500000000000000',
      min_confirmations: 12,
      dust: '10000000000000',
    });
    expect(board.latest('BTC')).toMatchObject({
      active: false,
      usd_rate: '0',
      as_of: '1970-01-01T00:00:00.000Z',
    });
    expect(board.fresh('BTC')).toBeUndefined();
  });

  it.each<[string, () => Reading[]]>([
    ['no source answers', () => []],
    ['they are too far apart', () => [aReading('a', '9000'), aReading('b', '9300')]],
  ])('carry the median with its sources, and keep it when %s', async (_why, readings) => {
    const old = '3000.25';
    const readAt = new Date();
    const sources = ['2990', old, '3010.000000000000000001'].map((usd_rate, i) => ({
      name: `${i}`,
      usd_rate,
    }));
    await refresh(
      sources.map(({ name, usd_rate }) => aReading(name, usd_rate, 'ETH', readAt)),
      2,
    );
    const before = await latest('ETH');
    const read_at = readAt.toISOString();
    expect(before).toMatchObject({
      spread_bps: 67,
      sources: sources.map((one) => ({ ...one, read_at })),
      as_of: read_at,
    });
    // USDC has agreeing sources each time, and goes on.
    const usdc = ['a', 'b'].map((name) => aReading(name, '1.01', 'USDC_ERC20'));
    await refresh([...readings(), ...usdc], 2);
    expect((await latest('USDC_ERC20'))?.usd_rate).toBe('1.01');
    expect(before?.usd_rate).toBe(old);
    expect(await latest('ETH')).toEqual(before);
    const row = await fixture.admin.one<{ usd_rate: string; as_of: Date }>(
      `select usd_rate, as_of from quotes where asset = 'ETH'`,
    );
    expect(row.usd_rate.replace(/0+$/, '')).toBe(old);
    expect(row.as_of.toISOString()).toBe(before?.as_of);
  });

  it('carry a network fee that follows its chain, and stays when nobody knows the cost', async () => {
    const estimates = new Map<AssetSymbol, string>();
    const fees: Ports['fees'] = {
      fresh: (asset) => {
        const native_cost = estimates.get(asset);
        const chain = asset === 'BTC' ? 'solana' : 'ethereum';
        return native_cost === undefined ? undefined : { asset, chain, native_cost, as_of: '' };
      },
    };
    const prices = fixedPrices([aReading('a', '2500'), aReading('a', '1', 'USDC_ERC20')]);
    const step = async () => {
      await refreshQuotes({ ...one.ports, prices, fees }, lease);
      return await feesOf('ETH', 'USDC_ERC20', 'BTC');
    };
    // Cheap; the margin of both is 200 %, the floor of USDC 0.05.
    estimates.set('ETH', '21000000000000').set('USDC_ERC20', '9000000000000').set('BTC', '1');
    expect(await step()).toEqual(['42000000000000', '50000', '20000']);
    // Dear: 2 × 0.0013 × 2500 = 6.5 dollars.
    estimates.set('ETH', '420000000000000').set('USDC_ERC20', '1300000000000000');
    expect(await step()).toEqual(['840000000000000', '6500000', '20000']);
    // Nonsense stops at the cap.
    estimates.set('ETH', `1${'0'.repeat(40)}`);
    expect(await step()).toEqual(['20000000000000000', '6500000', '20000']);
    estimates.clear();
    expect(await step()).toEqual(['20000000000000000', '6500000', '20000']);
  });

  it('of currencies are published beside them, and a currency with one source keeps its old rate', async () => {
    const latestOf = async (currency: string) => (await kv.get(currency))?.json<FiatRate>();
    const old = new Date(Date.now() - 70_000);
    const pair = (currency: Rated, price: string, readAt?: Date) =>
      ['a', 'b'].map((source) => aReading(source, price, currency, readAt));
    await refresh([...pair('EUR', '1.08', old), ...pair('JPY', '0.0066', old)], 2);
    await refresh([...pair('EUR', '1.09'), aReading('a', '0.0067', 'JPY')], 2);
    await eventually(() => expect(fiatBoard.fresh('EUR')).toMatchObject({ usd_rate: '1.09' }));
    expect(await latestOf('EUR')).toMatchObject({
      currency: 'EUR',
      spread_bps: 0,
      sources: ['a', 'b'].map((name) => ({ name, usd_rate: '1.09', read_at: expect.any(String) })),
    });
    expect(await latestOf('JPY')).toMatchObject({ usd_rate: '0.0066', as_of: old.toISOString() });
    expect(fiatBoard.fresh('JPY')).toBeUndefined();
    expect(fiatBoard.fresh('GBP')).toBeUndefined();
    // What movements of the past are valued at: the first rate of an hour.
    expect(
      await fixture.admin.rows('select currency, usd_rate::float from currency_rates order by 1'),
    ).toEqual([
      { currency: 'EUR', usd_rate: 1.08 },
      { currency: 'JPY', usd_rate: 0.0066 },
    ]);
  });

  it('of a publisher that was replaced are not kept', async () => {
    await refresh([aReading('a', '4000')]);
    const old: Lease = { ...lease, token: '0' };
    const late = refreshQuotes({ ...one.ports, prices: fixedPrices([aReading('a', '1')]) }, old);
    await expect(late).rejects.toThrow(/lease/);
    expect((await latest('ETH'))?.usd_rate).toBe('4000');
  });
});

// Last: the replicas take the lease that the other tests have.
it('one replica asks the sources for all; when it stops, another takes over', async () => {
  await releaseLease(fixture.db, lease);
  const [first, second] = [fixedPrices([aReading('a', '1')]), fixedPrices([aReading('a', '1')])];
  const config = { QUOTES_EVERY_MS: 20 };
  const leader = await fixture.start({ workers: true, prices: first, config });
  await eventually(() => expect(first.reads).toBeGreaterThan(3));
  await fixture.start({ workers: true, prices: second, config });
  const { reads } = first;
  await eventually(() => expect(first.reads).toBeGreaterThan(reads + 5));
  expect(second.reads).toBe(0);
  await leader.stop();
  await eventually(() => expect(second.reads).toBeGreaterThan(0), 10_000);
});
