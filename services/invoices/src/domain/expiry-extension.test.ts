import { describe, expect, it } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import {
  EXTENDED_MAX_MS,
  type ExtendableInvoice,
  extensionMs,
  type Outage,
  outageEnding,
} from './expiry-extension.ts';

const START = Date.UTC(2026, 2, 1, 12);
const at = (minutes: number): Date => new Date(START + minutes * 60_000);
const HOUR = 60;

const anInvoice = (over: Partial<ExtendableInvoice> = {}): ExtendableInvoice => ({
  createdAt: at(0),
  expiresAt: at(HOUR),
  extendedMs: 0,
  extendedUntil: null,
  ...over,
});
const inMinutes = (ms: number): number => ms / 60_000;

describe('an outage gives an invoice', () => {
  it.each<[string, Outage, Partial<ExtendableInvoice>, number]>([
    ['as much time as it took', { from: at(10), until: at(30) }, {}, 20],
    ['no more than it lived through', { from: at(-30), until: at(30) }, {}, 30],
    ['all of it, when its time was over meanwhile', { from: at(50), until: at(90) }, {}, 40],
    ['all of it, when its time was over as it began', { from: at(60), until: at(90) }, {}, 30],
    ['nothing, when its time was over before', { from: at(61), until: at(90) }, {}, 0],
    ['its whole life, when the chain was never seen', { from: null, until: at(45) }, {}, 45],
    ['nothing twice', { from: at(10), until: at(30) }, { extendedUntil: at(25), expiresAt: at(75) }, 5],
    ['nothing for what it did not live to see', { from: at(-30), until: at(0) }, {}, 0],
    ['a day at most', { from: at(10), until: at(48 * HOUR) }, {}, 24 * HOUR],
    ['what is left of the day', { from: at(10), until: at(30) }, { extendedMs: EXTENDED_MAX_MS - 60_000 }, 1],
  ])('%s', (_what, outage, over, minutes) => {
    expect(inMinutes(extensionMs(anInvoice(over), outage))).toBe(minutes);
  });

  const minute = fc.integer({ min: 0, max: 3_000 });
  const invoice = fc
    .record({
      created: minute,
      lasts: fc.integer({ min: 1, max: 120 }),
      extended: fc.nat({ max: 24 * HOUR }),
    })
    .map(({ created, lasts, extended }) =>
      anInvoice({ createdAt: at(created), expiresAt: at(created + lasts), extendedMs: extended * 60_000 }),
    );

  /** What the rest of a service does with it. */
  const extended = (given: ExtendableInvoice, outage: Outage): ExtendableInvoice => {
    const ms = extensionMs(given, outage);
    return {
      ...given,
      expiresAt: new Date(given.expiresAt.getTime() + ms),
      extendedMs: given.extendedMs + ms,
      extendedUntil: outage.until,
    };
  };

  it('between zero and its own length, and a day at most in all', async () => {
    await assertProperty(
      fc.property(invoice, minute, minute, (given, from, lasts) => {
        const outage = { from: at(from), until: at(from + lasts) };
        const after = extended(given, outage);
        const ms = after.expiresAt.getTime() - given.expiresAt.getTime();
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(lasts * 60_000);
        expect(after.extendedMs).toBeLessThanOrEqual(EXTENDED_MAX_MS);
      }),
    );
  });

  it('as much time after it as was left before, up to the limit', async () => {
    await assertProperty(
      fc.property(invoice, minute, fc.integer({ min: 1, max: 600 }), (given, from, lasts) => {
        const fresh = { ...given, extendedMs: 0 };
        const outage = { from: at(from), until: at(from + lasts) };
        const begin = Math.max(outage.from.getTime(), fresh.createdAt.getTime());
        const left = fresh.expiresAt.getTime() - begin;
        fc.pre(left >= 0 && begin <= outage.until.getTime());
        const after = extended(fresh, outage);
        expect(after.expiresAt.getTime() - outage.until.getTime()).toBe(left);
      }),
    );
  });

  it('the same time in one piece or in several', async () => {
    await assertProperty(
      fc.property(
        invoice,
        minute,
        fc.array(fc.nat({ max: 300 }), { maxLength: 4 }),
        (given, from, lengths) => {
          let until = from;
          let pieces = given;
          for (const length of lengths) {
            until += length;
            pieces = extended(pieces, { from: at(from), until: at(until) });
          }
          expect(pieces.expiresAt).toEqual(extended(given, { from: at(from), until: at(until) }).expiresAt);
        },
      ),
    );
  });
});

describe('the outage of a chain that is synced at minute 60 is', () => {
  const limits = { outageMs: 10_000, lateMs: 60_000, gapMs: 120_000 };
  const ending = (reached: number | null, newest: number, next: number | null, over: object = {}) =>
    outageEnding(
      {
        syncedAt: reached === null ? null : at(reached),
        knownUntil: at(newest),
        nextBlockAt: next === null ? null : at(next),
      },
      at(60),
      { ...limits, ...over },
    );
  const from = (minutes: number) => ({ from: at(minutes), until: at(60) });

  it.each<[string, ReturnType<typeof ending>, Outage | undefined]>([
    ['all, when it was reached seconds ago', ending(59.9, 59.8, null), undefined],
    ['all, when the next block came in time', ending(59.9, 59.5, 59.9), undefined],
    [
      'all, when it was reached exactly within its limit',
      ending(59.5, 57.5, 59.5, { outageMs: 30_000 }),
      undefined,
    ],
    ['all, when the next block came exactly in time', ending(59.9, 58.9, 59), undefined],
    ['nothing, when it never was', ending(null, 0, 1), { from: null, until: at(60) }],
    ['nothing since it was reached, longer ago', ending(59.8, 59.7, 59.9), from(59.8)],
    ['nothing since a block that was kept back', ending(59.99, 40, 40.2), from(40.2)],
    ['nothing since such a block, when it was not reached either', ending(59, 40, 40.2), from(40.2)],
    ['nothing since it was reached, when blocks came late because of it', ending(40, 39.9, 40.1), from(40)],
    ['nothing since the newest block, when there was none for long', ending(42, 40, 59.9), from(40)],
    [
      'all, where blocks are made by hand',
      ending(59.9, 10, 20, { lateMs: undefined, gapMs: undefined }),
      undefined,
    ],
  ])('%s', (_what, found, expected) => {
    expect(found).toEqual(expected);
  });
});
