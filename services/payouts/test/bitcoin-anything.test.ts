import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  BITCOIN,
  type BitcoinEngines,
  BitcoinFixture,
  bitcoinEngines,
  CONFIRMATIONS,
} from './bitcoin-fixture.ts';

/** Under random faults, in the end each payout is paid once, or it is proved that it can never be paid. */
let engines: BitcoinEngines;
beforeAll(async () => {
  engines = await bitcoinEngines();
});
afterAll(() => engines?.stop());

const STEPS = 45;

/** Pseudo-random numbers from a seed (mulberry32). */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

const nobody = () => `raw(6a08${randomBytes(8).toString('hex')})`;

async function settledDeposit(fixture: BitcoinFixture, satoshi: bigint): Promise<void> {
  const { payload } = await fixture.deposit(satoshi, { settled: false });
  await fixture.node.mine(CONFIRMATIONS - 1);
  await fixture.settled(payload);
}

/** One random step. A step that the chain refuses does nothing. */
async function step(fixture: BitcoinFixture, roll: (sides: number) => number): Promise<void> {
  const { node } = fixture;
  switch (roll(12)) {
    case 0:
      await settledDeposit(fixture, BigInt(1 + roll(200)) * (BITCOIN / 100n));
      return;
    case 1:
    case 2:
    case 3:
      await fixture.reserve(BigInt(1 + roll(60)) * (BITCOIN / 100n));
      return;
    case 4:
    case 5:
      await node.mine(1 + roll(2));
      return;
    case 6: {
      // Dropped transactions return to the mempool, or are lost with it. The depth is less than the confirmations.
      const depth = 1 + roll(CONFIRMATIONS - 1);
      await node.reorganise(depth);
      if (roll(2) === 0) return;
      node.kill();
      await node.restart();
      return;
    }
    case 7: {
      // A miner includes an attempt that was replaced.
      const attempts = (await fixture.transactions()).filter(({ state }) =>
        ['signed', 'broadcast'].includes(state),
      );
      const one = attempts[roll(Math.max(attempts.length, 1))];
      if (one === undefined) return;
      await node.rpc('generateblock', nobody(), [one.raw]).catch((error: Error) => {
        expect(error.message).toMatch(/TestBlockValidity|already|bad-txns|missing/i);
      });
      return;
    }
    case 8:
      fixture.clock.advance(21 * 60_000);
      await fixture.run();
      return;
    default:
      await fixture.run();
  }
}

it.each([1, 2, 3, 4, 5, 6, 7, 8])('anything, %i', async (seed) => {
  const fixture = await BitcoinFixture.fresh(engines);
  const roll = dice(seed);
  fixture.onBroadcast = async (_raw, send) => {
    const luck = roll(4);
    if (luck === 0) return 'unknown';
    const answer = await send();
    return luck === 1 ? 'unknown' : answer;
  };
  try {
    await settledDeposit(fixture, 3n * BITCOIN);
    for (let i = 0; i < STEPS; i++) await step(fixture, roll);
    fixture.onBroadcast = (_raw, send) => send();
    await settledDeposit(fixture, 50n * BITCOIN);
    for (let i = 0; i < 12; i++) {
      fixture.clock.advance(40_000);
      await fixture.run();
      await fixture.node.mine(CONFIRMATIONS);
    }
    await fixture.run();
    await fixture.expectSound();
    const ends = await fixture.db.rows<{ status: string; proved: boolean }>(
      `select status, exists (select from payments join transactions using (replacement_group)
         where payout_id = payouts.id and transactions.state = 'invalidated') as proved from payouts`,
    );
    for (const { status, proved } of ends)
      expect([status, status === 'failed' && !proved]).toEqual([status, false]);
    expect(ends.filter(({ status }) => !['mined', 'failed'].includes(status))).toEqual([]);
    expect(ends.filter(({ status }) => status === 'mined').length).toBeGreaterThan(0);
    expect(await fixture.spent()).toHaveLength(
      (await fixture.transactions()).filter(({ state }) => state === 'mined').length,
    );
  } finally {
    await fixture.close();
  }
});
