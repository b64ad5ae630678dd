import { expect, test } from '@jest/globals';
import { createLogger } from '@quittance/shared/logger';
import { createAttemptWriter } from './attempt-writer.ts';
import type { Attempt } from './operations/attempt-delivery.ts';

const logger = createLogger('webhooks', 'silent');
const anAttempt = (id: string) => ({ delivery: { id } }) as Attempt;
const idsOf = (attempts: readonly Attempt[]) => attempts.map(({ delivery }) => `${delivery.id}`);

test('an attempt that cannot be recorded delays no other and is retried', async () => {
  let now = 0;
  const poisoned = new Set(['3']);
  const written: string[] = [];
  const record = async (attempts: readonly Attempt[]): Promise<void> => {
    if (attempts.some(({ delivery }) => poisoned.has(delivery.id))) throw new Error('too slow');
    written.push(...idsOf(attempts));
  };
  const writer = createAttemptWriter(record, logger, () => now);
  for (let i = 0; i < 10; i++) writer.add(anAttempt(`${i}`));
  await expect(writer.step()).rejects.toThrow('too slow');
  expect(idsOf(await writer.step())).toEqual(['0', '1', '2']);
  // New attempts are recorded together, without the one that failed.
  writer.add(anAttempt('new'));
  expect(idsOf(await writer.step())).toEqual(['new']);
  now += 1_000;
  expect(idsOf(await writer.step())).toEqual(['4', '5', '6', '7', '8', '9']);
  expect(await writer.step()).toEqual([]);
  expect(writer.size).toBe(1);
  poisoned.clear();
  now += 1_000;
  expect(idsOf(await writer.step())).toEqual(['3']);
  expect(writer.size).toBe(0);
  expect(written).toHaveLength(11);
});

test('a batch has at most 500 attempts', async () => {
  const writer = createAttemptWriter(async () => {}, logger);
  for (let i = 0; i < 501; i++) writer.add(anAttempt(`${i}`));
  expect([(await writer.step()).length, (await writer.step()).length]).toEqual([500, 1]);
});
