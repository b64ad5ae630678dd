import { describe, expect, it } from '@jest/globals';
import { formatRate } from '@quittance/shared/money';
import { fiatApis } from './fiat-apis.ts';

/** What a source's request reads of an answer, as texts. */
function rates(source: string, answer: unknown, request = 0): Record<string, string> {
  const asked = fiatApis.find(({ name }) => name === source)?.requests[request];
  if (asked === undefined) throw new Error(`no source ${source}`);
  const told = asked.answer.parse(answer).rates;
  return Object.fromEntries(Object.entries(told).map(([currency, rate]) => [currency, formatRate(rate)]));
}

const ticker = (price: unknown) => ({ a: ['1', '1', '1'], c: [price, '12.5'], o: '1' });
const kraken = (result: object) => ({ error: [], result });

describe('Kraken', () => {
  it('is asked for all currencies at once, and pairs that begin with the dollar are inverted', () => {
    const path = fiatApis.find(({ name }) => name === 'kraken')?.requests[0]?.path;
    expect(path).toBe('/0/public/Ticker?pair=EURUSD,GBPUSD,USDCHF,USDJPY,USDCAD,AUDUSD');
    const answer = kraken({
      ZEURZUSD: ticker('1.08450'),
      ZGBPZUSD: ticker('1.26010'),
      USDCHF: ticker('0.80000'),
      ZUSDZJPY: ticker('150.00'),
      ZUSDZCAD: ticker('1.60000'),
      AUDUSD: ticker('0.65000'),
    });
    expect(rates('kraken', answer)).toEqual({
      EUR: '1.0845',
      GBP: '1.2601',
      CHF: '1.25',
      JPY: '0.006666666666666667',
      CAD: '0.625',
      AUD: '0.65',
    });
  });

  it('gives the other currencies when one is missing or has no price', () => {
    const answer = kraken({
      ZEURZUSD: ticker('0'),
      AUDUSD: { c: [] },
      EURGBP: ticker('9'),
      USDCHF: ticker('0.8'),
    });
    expect(rates('kraken', answer)).toEqual({ CHF: '1.25' });
  });

  it.each([{ error: ['EQuery:Unknown asset pair'] }, { error: ['EGeneral'], result: {} }, null])(
    'gives nothing with %j',
    (answer) => {
      expect(() => rates('kraken', answer)).toThrow();
    },
  );
});

describe('Bitstamp', () => {
  it('is asked for euros and pounds, and says when', () => {
    const { requests = [] } = fiatApis.find(({ name }) => name === 'bitstamp') ?? {};
    expect(requests.map(({ path }) => path)).toEqual(['/api/v2/ticker/eurusd/', '/api/v2/ticker/gbpusd/']);
    const answer = { last: '1.08440', timestamp: '1767323045' };
    expect(rates('bitstamp', answer)).toEqual({ EUR: '1.0844' });
    expect(rates('bitstamp', answer, 1)).toEqual({ GBP: '1.0844' });
    expect(requests[0]?.answer.parse(answer).at?.toISOString()).toBe('2026-01-02T03:04:05.000Z');
    expect(rates('bitstamp', { ...answer, last: null })).toEqual({});
    expect(() => rates('bitstamp', { last: '1.08440' })).toThrow();
  });
});

describe('Coinbase', () => {
  it('says how much of each currency a dollar costs', () => {
    const told = { EUR: '0.8', JPY: 150, GBP: '-1', CHF: 'much', AUD: ['1.5'], BTC: '0.00001' };
    expect(rates('coinbase', { data: { currency: 'USD', rates: told } })).toEqual({
      EUR: '1.25',
      JPY: '0.006666666666666667',
    });
  });

  it.each([
    { data: { currency: 'EUR', rates: { EUR: '1' } } },
    { data: {} },
    { errors: [{ id: 'not_found' }] },
  ])('gives nothing with %j', (answer) => {
    expect(() => rates('coinbase', answer)).toThrow();
  });
});
