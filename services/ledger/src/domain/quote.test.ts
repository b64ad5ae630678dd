import { describe, expect, it } from '@jest/globals';
import { formatRate, parseRate, type Rate } from '@quittance/shared/money';
import fc from 'fast-check';
import { agreeOnRate, type Reading } from './quote.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const ago = (ms: number) => new Date(now.getTime() - ms);

function rate(text: string): Rate {
  const parsed = parseRate(text);
  if (!parsed.ok) throw new Error(`no rate: ${text}`);
  return parsed.value;
}

const aReading = (source: string, price: string, readAt = now): Reading => ({
  source,
  asset: 'ETH',
  rate: rate(price),
  readAt,
});

function agreed(readings: readonly Reading[], sourcesMin = 2): string {
  const result = agreeOnRate('ETH', readings, now, sourcesMin);
  return result.ok ? formatRate(result.value.rate) : result.refusal;
}

describe('agreeing on a rate', () => {
  it.each<[string, Reading[], string]>([
    ['the middle of three', [aReading('a', '2500'), aReading('b', '2540'), aReading('c', '2501')], '2501'],
    ['the mean of the middle two', [aReading('a', '2500'), aReading('b', '2501')], '2500.5'],
    ['exactly 2 % apart', [aReading('a', '100'), aReading('b', '102')], '101'],
    ['a hair more than 2 % apart', [aReading('a', '100'), aReading('b', '102.000001')], 'too_far_apart'],
    [
      'one wild source among three',
      [aReading('a', '1'), aReading('b', '2500'), aReading('c', '2501')],
      'too_far_apart',
    ],
    ['one source', [aReading('a', '2500')], 'too_few_sources'],
    ['one source twice', [aReading('a', '2500'), aReading('a', '2500')], 'too_few_sources'],
    ['none', [], 'too_few_sources'],
    ['two minutes old', [aReading('a', '2500', ago(120_000)), aReading('b', '2500')], '2500'],
    ['older than that', [aReading('a', '2500', ago(120_001)), aReading('b', '2500')], 'too_few_sources'],
    [
      'a wild one that is stale',
      [aReading('a', '1', ago(600_000)), aReading('b', '2500'), aReading('c', '2500')],
      '2500',
    ],
    ['half a minute ahead of us', [aReading('a', '2500', ago(-30_000)), aReading('b', '2500')], '2500'],
    [
      'further ahead than that',
      [aReading('a', '2500', ago(-30_001)), aReading('b', '2500')],
      'too_few_sources',
    ],
  ])('%s', (_what, readings, expected) => {
    expect(agreed(readings)).toBe(expected);
  });

  it('of another asset is not looked at', () => {
    expect(agreed([aReading('a', '2500'), { ...aReading('b', '2500'), asset: 'BTC' }])).toBe(
      'too_few_sources',
    );
  });

  it('is as old as its oldest reading, and never from the future', () => {
    const result = agreeOnRate(
      'ETH',
      [aReading('a', '2500', ago(5_000)), aReading('b', '2500', ago(-5_000))],
      now,
      2,
    );
    expect(result.ok && result.value.asOf).toEqual(ago(5_000));
    const ahead = agreeOnRate('ETH', [aReading('a', '2500', ago(-5_000))], now, 1);
    expect(ahead.ok && ahead.value.asOf).toEqual(now);
  });

  it('tells what each source said and how far they were apart', () => {
    const result = agreeOnRate('ETH', [aReading('a', '100', ago(9)), aReading('b', '101')], now, 2);
    expect(result.ok && result.value).toEqual({
      asset: 'ETH',
      rate: rate('100.5'),
      spreadBasisPoints: 100n,
      sources: [
        { name: 'a', rate: rate('100'), readAt: ago(9) },
        { name: 'b', rate: rate('101'), readAt: now },
      ],
      asOf: ago(9),
    });
  });

  it('lies between the lowest and the highest, whatever the order', () => {
    const aRate = fc
      .bigInt({ min: 10n ** 18n, max: (10n ** 18n * 102n) / 100n })
      .map((value) => value as Rate);
    fc.assert(
      fc.property(fc.array(aRate, { minLength: 2, maxLength: 6 }), (rates) => {
        const readings = rates.map((value, i) => ({ ...aReading(`s${i}`, '1'), rate: value }));
        const result = agreeOnRate('ETH', readings, now, 2);
        const turned = agreeOnRate('ETH', [...readings].reverse(), now, 2);
        if (!result.ok || !turned.ok) throw new Error('within 2 %, so they agree');
        expect(result.value.rate).toBe(turned.value.rate);
        expect(rates.some((value) => value <= result.value.rate)).toBe(true);
        expect(rates.some((value) => value >= result.value.rate)).toBe(true);
      }),
    );
  });
});
