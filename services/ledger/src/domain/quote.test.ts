import { describe, expect, it } from '@jest/globals';
import { formatRate, type Rate } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import { aRate } from '@quittance/testkit/builders';
import fc from 'fast-check';
import { agreeOnRate, type Reading } from './quote.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const ago = (ms: number) => new Date(now.getTime() - ms);

const aReading = (source: string, price: string, readAt = now): Reading => ({
  source,
  symbol: 'ETH',
  rate: aRate(price),
  readAt,
});

function agreed(readings: readonly Reading[], sourcesMin = 2): string {
  const result = agreeOnRate('ETH', readings, now, sourcesMin);
  return result.ok ? formatRate(result.value.rate) : result.refusal;
}

/** Prices of sources a, b, c, each with how many milliseconds ago it was read. */
const readings = (...prices: [price: string, ageMs?: number][]) =>
  prices.map(([price, ageMs = 0], i) => aReading('abc'.charAt(i), price, ago(ageMs)));

describe('agreeing on a rate', () => {
  it.each<[string, Reading[], string]>([
    ['the middle of three', readings(['2500'], ['2540'], ['2501']), '2501'],
    ['the mean of the middle two', readings(['2500'], ['2501']), '2500.5'],
    ['exactly 2 % apart', readings(['100'], ['102']), '101'],
    ['a hair more than 2 % apart', readings(['100'], ['102.000001']), 'too_far_apart'],
    ['one wild source among three', readings(['1'], ['2500'], ['2501']), 'too_far_apart'],
    ['one source', readings(['2500']), 'too_few_sources'],
    ['one source twice', [aReading('a', '2500'), aReading('a', '2500')], 'too_few_sources'],
    ['none', [], 'too_few_sources'],
    [
      'one of another asset',
      [aReading('a', '1'), { ...aReading('b', '1'), symbol: 'BTC' }],
      'too_few_sources',
    ],
    ['two minutes old', readings(['2500', 120_000], ['2500']), '2500'],
    ['older than that', readings(['2500', 120_001], ['2500']), 'too_few_sources'],
    ['a wild one that is stale', readings(['1', 600_000], ['2500'], ['2500']), '2500'],
    ['half a minute ahead of us', readings(['2500', -30_000], ['2500']), '2500'],
    ['further ahead than that', readings(['2500', -30_001], ['2500']), 'too_few_sources'],
  ])('%s', (_what, given, expected) => {
    expect(agreed(given)).toBe(expected);
  });

  it('is as old as its oldest reading, and never from the future', () => {
    const result = agreeOnRate('ETH', readings(['2500', 5_000], ['2500', -5_000]), now, 2);
    expect(result.ok && result.value.asOf).toEqual(ago(5_000));
    const ahead = agreeOnRate('ETH', readings(['2500', -5_000]), now, 1);
    expect(ahead.ok && ahead.value.asOf).toEqual(now);
  });

  it('tells what each source said and how far they were apart', () => {
    const result = agreeOnRate('ETH', readings(['100', 9], ['101']), now, 2);
    expect(result.ok && result.value).toEqual({
      symbol: 'ETH',
      rate: aRate('100.5'),
      spreadBasisPoints: 100n,
      sources: [
        { name: 'a', rate: aRate('100'), readAt: ago(9) },
        { name: 'b', rate: aRate('101'), readAt: now },
      ],
      asOf: ago(9),
    });
  });

  it('lies between the lowest and the highest, whatever the order', async () => {
    const aRate = fc
      .bigInt({ min: 10n ** 18n, max: (10n ** 18n * 102n) / 100n })
      .map((value) => value as Rate);
    await assertProperty(
      fc.property(fc.array(aRate, { minLength: 2, maxLength: 6 }), (rates) => {
        const given = rates.map((value, i) => ({ ...aReading(`s${i}`, '1'), rate: value }));
        const result = agreeOnRate('ETH', given, now, 2);
        const turned = agreeOnRate('ETH', given.toReversed(), now, 2);
        if (!result.ok || !turned.ok) throw new Error('within 2 %, so they agree');
        expect(result.value.rate).toBe(turned.value.rate);
        expect(rates.some((value) => value <= result.value.rate)).toBe(true);
        expect(rates.some((value) => value >= result.value.rate)).toBe(true);
      }),
    );
  });
});
