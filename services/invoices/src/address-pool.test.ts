import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@quittance/shared/logger';
import { BLOCK_SIZE, derivedAddressPool } from './address-pool.ts';

const logger = createLogger('test', 'silent');

function aPool(ahead = 4 * BLOCK_SIZE, onDerive = () => {}) {
  const asked = { blocks: 0, fails: false };
  const pool = derivedAddressPool({
    addressAt(index) {
      onDerive();
      return `0x${index}`;
    },
    async nextBlock() {
      if (asked.fails) throw new Error('the database is away');
      return asked.blocks++;
    },
    ahead,
    logger,
  });
  return { asked, pool };
}

describe('the address pool', () => {
  it('keeps one block of addresses ready at first, and gives each out once', async () => {
    const { asked, pool } = aPool();
    await pool.fill();
    expect(asked.blocks).toBe(1);
    const taken = await Promise.all(Array.from({ length: 1_000 }, () => pool.take()));
    expect(new Set(taken.map(({ address }) => address)).size).toBe(1_000);
    expect(taken.every(({ address, derivationIndex }) => address === `0x${derivationIndex}`)).toBe(true);
  });

  it('keeps twice as many ready each time half of them are taken, up to the configured number', async () => {
    const { asked, pool } = aPool();
    await pool.fill();
    for (let n = 0; n < BLOCK_SIZE / 2; n++) await pool.take();
    expect(asked.blocks).toBe(1);
    await pool.take();
    await pool.fill();
    // 17 are taken, 64 are ready.
    expect(asked.blocks).toBe(3);
    for (let n = 0; n < 500; n++) await pool.take();
    await pool.fill();
    asked.fails = true;
    for (let n = 0; n < 4 * BLOCK_SIZE; n++) await pool.take();
    const others = await Promise.allSettled(Array.from({ length: 2 * BLOCK_SIZE }, () => pool.take()));
    expect(others.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(BLOCK_SIZE);
  });

  it('derives one address per turn of the event loop, for any number of requests', async () => {
    let [turns, derived, mostInOneTurn, stopped] = [0, 0, 0, false];
    const countTurns = () => {
      turns++;
      mostInOneTurn = Math.max(mostInOneTurn, derived);
      derived = 0;
      if (!stopped) setImmediate(countTurns);
    };
    const { pool } = aPool(2 * BLOCK_SIZE, () => derived++);
    setImmediate(countTurns);
    await Promise.all([pool.fill(), ...Array.from({ length: 50 }, () => pool.take())]);
    stopped = true;
    expect(turns).toBeGreaterThanOrEqual(50 + BLOCK_SIZE);
    expect(mostInOneTurn).toBe(1);
  });

  it('gives out addresses while the database is down, and throws when none is left', async () => {
    const { asked, pool } = aPool();
    await pool.fill();
    asked.fails = true;
    for (let n = 0; n < BLOCK_SIZE; n++) await pool.take();
    await expect(pool.take()).rejects.toThrow('the database is away');
    asked.fails = false;
    expect(await pool.take()).toMatchObject({ address: expect.any(String) });
  });
});
