import { describe, expect, test } from '@jest/globals';
import { argon2idInJavaScript, passwordHashes, recommendedCost } from './password-hashes.ts';

const PASSWORD = 'three words and a comma';

describe('a hash of a password', () => {
  test('costs what OWASP recommends, and is of this password alone', async () => {
    expect(recommendedCost).toEqual({ memoryKib: 19_456, passes: 2 });
    const hashes = passwordHashes();
    const stored = await hashes.hash(PASSWORD);
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(await hashes.verify(PASSWORD, stored)).toBe(true);
    expect(await hashes.verify(`${PASSWORD} `, stored)).toBe(false);
    expect(await hashes.verify(PASSWORD, null)).toBe(false);
  });

  test('has a salt of its own, and is verified with the cost that it was made with', async () => {
    const cheap = passwordHashes({ memoryKib: 8, passes: 1 });
    const [one, other] = [await cheap.hash(PASSWORD), await cheap.hash(PASSWORD)];
    expect(one).not.toBe(other);
    expect(await passwordHashes({ memoryKib: 16, passes: 2 }).verify(PASSWORD, one)).toBe(true);
  });

  test('is the same where Node has no argon2', async () => {
    const cost = { memoryKib: 64, passes: 2 };
    const ours = passwordHashes(cost, argon2idInJavaScript);
    expect(await ours.verify(PASSWORD, await passwordHashes(cost).hash(PASSWORD))).toBe(true);
    expect(await passwordHashes(cost).verify(PASSWORD, await ours.hash(PASSWORD))).toBe(true);
  });
});

test('two passwords are hashed at a time, twenty more wait, and others are told to come back', async () => {
  let running = 0;
  let most = 0;
  const free: (() => void)[] = [];
  const hashes = passwordHashes({ memoryKib: 8, passes: 1 }, async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => free.push(resolve));
    running -= 1;
    return Buffer.alloc(32);
  });
  const asked = Array.from({ length: 25 }, () => hashes.verify(PASSWORD, null));
  const settled = Promise.allSettled(asked);
  await Promise.allSettled(asked.slice(22));
  for (let done = 0; done < 22; done++) {
    while (free.length === 0) await new Promise((resolve) => setImmediate(resolve));
    free.shift()?.();
  }
  const outcomes = await settled;
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(22);
  expect(outcomes.slice(22)).toMatchObject([1, 2, 3].map(() => ({ reason: { name: expect.any(String) } })));
  expect(most).toBe(2);
});
