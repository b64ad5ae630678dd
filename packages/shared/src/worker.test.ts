import { expect, test } from '@jest/globals';
import { sleep } from './clock.ts';
import { createLogger } from './logger.ts';
import { batchPauseMs, logSteps, withBatchPause } from './worker.ts';

const STEP_MS = 4;
/** A timer may end a little before its time. */
const EARLY_MS = 1;

/** Does a step and answers how long it rested after it: not at all, or once. */
async function restsOf(isFull: boolean): Promise<number[]> {
  const rests: number[] = [];
  const done = await withBatchPause(
    async () => {
      await sleep(STEP_MS);
      return 'done';
    },
    () => isFull,
    async (ms) => {
      rests.push(ms);
    },
  );
  expect(done).toBe('done');
  return rests;
}

test('a rest is twice as long as the step before it, and never long', () => {
  expect(batchPauseMs(0)).toBe(0);
  expect(batchPauseMs(6)).toBe(12);
  expect(batchPauseMs(100)).toBe(20);
});

test('a step is followed by a rest', async () => {
  const [rest] = await restsOf(false);
  expect(rest).toBeGreaterThanOrEqual(2 * (STEP_MS - EARLY_MS));
});

test('a step that left work behind is followed by the next at once', async () => {
  expect(await restsOf(true)).toEqual([]);
});

test('a step that fails fails at once', async () => {
  const failing = withBatchPause(
    () => Promise.reject(new Error('no')),
    () => false,
  );
  await expect(failing).rejects.toThrow('no');
});

const FAILED = 'a step failed, trying again every second';
const WORKS = 'the worker is working again';

/** A worker's steps, what is logged of them, and the time, which stands still. */
function stepsAtHand() {
  const lines: string[] = [];
  const time = { ms: 0 };
  const write = (line: string) => {
    const { msg, times, suppressed } = JSON.parse(line);
    lines.push([msg, times ?? suppressed].filter((part) => part !== undefined).join(' × '));
  };
  const steps = logSteps(createLogger('test', 'info', { write }), 'a worker', () => time.ms);
  const fail = () => steps.failed(new Error('no answer'));
  return { lines, time, fail, succeed: (pauseMs = 0) => steps.succeeded(pauseMs) };
}

test('a worker logs its first failure and its recovery at once', () => {
  const { lines, fail, succeed, time } = stepsAtHand();
  succeed();
  for (let i = 0; i < 2; i++) {
    fail();
    succeed();
    succeed();
    time.ms += 60_000;
  }
  expect(lines).toEqual([FAILED, WORKS, FAILED, WORKS]);
});

test('a worker that fails every other step logs one line a minute, and its recovery after a minute without a failure', () => {
  const { lines, fail, succeed, time } = stepsAtHand();
  for (let i = 0; i < 120; i++) {
    fail();
    time.ms += 500;
    succeed();
    time.ms += 500;
  }
  expect(lines).toEqual([FAILED, WORKS, FAILED, `${FAILED} × 60`]);
  time.ms += 58_000;
  succeed();
  expect(lines).toHaveLength(4);
  time.ms += 1_000;
  succeed();
  expect(lines.slice(4)).toEqual([`${WORKS} × 58`]);
});

test('a worker that fails within a minute after a late recovery is unsteady, and later it is steady again', () => {
  const { lines, fail, succeed, time } = stepsAtHand();
  const failAndSucceed = () => {
    fail();
    succeed();
  };
  failAndSucceed();
  failAndSucceed();
  time.ms += 60_000;
  succeed();
  failAndSucceed();
  expect(lines.slice(2)).toEqual([FAILED, WORKS, FAILED]);
  time.ms += 60_000;
  succeed();
  time.ms += 60_000;
  failAndSucceed();
  expect(lines.slice(5)).toEqual([WORKS, FAILED, WORKS]);
});

test('an unsteady worker that pauses for long logs its recovery before the pause', () => {
  const { lines, fail, succeed } = stepsAtHand();
  fail();
  succeed();
  fail();
  succeed(59_999);
  expect(lines).toEqual([FAILED, WORKS, FAILED]);
  succeed(60_000);
  expect(lines.slice(3)).toEqual([WORKS]);
});
