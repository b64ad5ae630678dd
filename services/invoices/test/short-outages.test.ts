import { beforeAll, expect, it } from '@jest/globals';
import { expireInvoices } from '../src/operations/expire-invoices.ts';
import { outageLimits } from '../src/watch-chains.ts';
import { later, MINUTE, openFixture } from './fixture.ts';
import type { FixtureOptions } from './replica.ts';

/** However a node fails, an outage of seconds is given back. */

const SECOND = 1_000;
/** The values of production. */
const limits = outageLimits('evm', undefined, SECOND);
const BLOCK_EVERY = 12 * SECOND;
const CALL_LIMIT = 10 * SECOND;
const { fixture, mine } = await openFixture(limits as FixtureOptions);
/** How much of the time to the next block has passed. */
let sinceBlock = 0;
const { head } = fixture.chain;
beforeAll(async () => {
  await mine({});
});

/** Lets time pass and makes blocks, scanned or not. */
function pass(ms: number) {
  for (let passed = 0; passed < ms; passed += SECOND) {
    fixture.pass(SECOND);
    sinceBlock += SECOND;
    if (sinceBlock < BLOCK_EVERY) continue;
    sinceBlock = 0;
    fixture.chain.mine({});
  }
}

/** Steps the workers every few seconds, which is no outage yet. */
async function watch(ms: number, every = 5 * SECOND) {
  for (let passed = 0; passed < ms; passed += every) {
    pass(every);
    await fixture.scan();
  }
}

/** A step that fails after this time, and the next one a second later. */
async function failing(ms: number, afterMs: number) {
  const until = fixture.clock.at.getTime() + ms;
  fixture.chain.head = () => {
    pass(afterMs);
    return Promise.reject(new Error('no answer'));
  };
  while (fixture.clock.at.getTime() + afterMs + SECOND <= until) {
    await expect(fixture.scanner.step()).rejects.toThrow('no answer');
    expect(await expireInvoices(fixture.ports, fixture.watchedChain)).toBe(0);
    pass(SECOND);
  }
  pass(until - fixture.clock.at.getTime());
  fixture.chain.head = head;
}

/** How each failing node behaves for this time. */
const kinds: [string, (ms: number) => Promise<void>][] = [
  ['that refuses each call', (ms) => failing(ms, 0)],
  ['that answers no call within its limit', (ms) => failing(ms, CALL_LIMIT)],
  [
    'that is stopped in a call, and answers it when it goes on',
    async (ms) => {
      await failing(ms - 8 * SECOND, CALL_LIMIT);
      fixture.chain.head = async () => {
        pass(8 * SECOND);
        fixture.chain.head = head;
        return await head();
      };
      await fixture.scan();
    },
  ],
];

it.each(kinds.flatMap(([kind, play]) => [20, 75].map((seconds) => [kind, seconds, play] as const)))(
  'by a node %s, %d s, is given back in full, also over the invoice’s end',
  async (_kind, seconds, play) => {
    await watch(30 * SECOND);
    const [ending, longer] = [await fixture.anInvoice({ expires_in: 1 }), await fixture.anInvoice()];
    await watch(50 * SECOND);
    await play(seconds * SECOND);
    await fixture.scan();
    for (const { id, expiresAt, read } of [ending, longer]) {
      const shown = await read();
      expect(shown).toMatchObject({ id, status: 'pending' });
      const given = new Date(shown.expires_at).getTime() - expiresAt.getTime();
      expect(given).toBeGreaterThanOrEqual(seconds * SECOND);
      expect(given).toBeLessThanOrEqual((seconds + 2) * SECOND);
    }
    // It still has the ten seconds that it had before.
    await watch(8 * SECOND, SECOND);
    await ending.expectShown({ status: 'pending' });
    await watch(5 * SECOND + 2 * BLOCK_EVERY);
    await ending.expectShown({ status: 'expired' });
  },
);

it.each([75, 600])(
  'extends the expiry from the first block that the node kept back, by %d s',
  async (seconds) => {
    await watch(30 * SECOND);
    const [ending, longer] = [await fixture.anInvoice({ expires_in: 1 }), await fixture.anInvoice()];
    await watch(50 * SECOND);
    fixture.chain.lagsAt = fixture.chain.height();
    const missedFrom = fixture.clock.at.getTime() + BLOCK_EVERY - sinceBlock;
    await watch(seconds * SECOND);
    fixture.chain.lagsAt = undefined;
    await fixture.scan();
    const lost = fixture.clock.at.getTime() - missedFrom;
    for (const { id, expiresAt, read } of [ending, longer]) {
      expect(await read()).toMatchObject({ id, status: 'pending', expires_at: later(expiresAt, lost) });
    }
    await watch(2 * MINUTE);
    await ending.expectShown({ status: 'expired' });
  },
);

it('extends nothing below the limits: ten seconds without an answer, or a block that is half a minute late', async () => {
  await watch(30 * SECOND);
  const invoice = await fixture.anInvoice();
  await failing(9 * SECOND, 0);
  await fixture.scan();
  await watch(30 * SECOND);
  fixture.chain.lagsAt = fixture.chain.height();
  await watch(30 * SECOND);
  fixture.chain.lagsAt = undefined;
  await watch(30 * SECOND);
  await invoice.expectShown({ expires_at: invoice.expiresAt.toISOString() });
});
