import { expect, test } from '@jest/globals';
import { StepUpCancelled, StepUpWait } from './step-up-wait.ts';

test('a second request waits for the same step-up, which counts for both', async () => {
  const shown: boolean[] = [];
  const wait = new StepUpWait((isWaiting) => shown.push(isWaiting));
  const both = Promise.all([wait.ask(), wait.ask()]);
  expect(wait.isWaiting).toBe(true);
  wait.end('shown');
  await both;
  expect(shown).toEqual([true, false]);
});

test('one that is cancelled does nothing of what waits for it, and the next one is asked for again', async () => {
  const wait = new StepUpWait(() => {});
  const both = [wait.ask(), wait.ask()];
  wait.end('cancelled');
  for (const one of both) await expect(one).rejects.toBeInstanceOf(StepUpCancelled);
  expect(wait.isWaiting).toBe(false);
  const next = wait.ask();
  wait.end('shown');
  await next;
});
