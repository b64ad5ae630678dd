import { expect, test } from '@jest/globals';
import { requestBatcher } from './request-batcher.ts';

/** Runs that end when they are told to, so that what waits meanwhile can be seen. */
function runs() {
  const batches: number[][] = [];
  const ends: (() => void)[] = [];
  const run = async (items: readonly number[]) => {
    batches.push([...items]);
    await new Promise<void>((resolve) => ends.push(resolve));
    if (items.includes(13)) throw new Error('unlucky');
    return items.map((item) => item * 10);
  };
  const end = () => {
    for (const one of ends.splice(0)) one();
  };
  return { batches, run, end };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function untilDone(promise: Promise<unknown>, end: () => void): Promise<void> {
  let done = false;
  void promise.finally(() => {
    done = true;
  });
  while (!done) {
    await turn();
    end();
  }
}

test('what is asked in one turn goes in one run, what comes meanwhile in the next, each gets its own answer', async () => {
  const { batches, run, end } = runs();
  const ask = requestBatcher({ run, max: 3, atOnce: 1 });
  const first = [ask(1), ask(2)];
  await turn();
  const later = [ask(3), ask(4), ask(5), ask(6)];
  const all = Promise.all([...first, ...later]);
  await untilDone(all, end);
  expect(await all).toEqual([10, 20, 30, 40, 50, 60]);
  expect(batches).toEqual([[1, 2], [3, 4, 5], [6]]);
});

test('one that is refused is refused alone', async () => {
  const { batches, run, end } = runs();
  const ask = requestBatcher({ run, max: 10, atOnce: 2 });
  const all = Promise.allSettled([ask(1), ask(13), ask(2)]);
  await untilDone(all, end);
  expect(await all).toMatchObject([
    { status: 'fulfilled', value: 10 },
    { status: 'rejected', reason: { message: 'unlucky' } },
    { status: 'fulfilled', value: 20 },
  ]);
  expect(batches).toEqual([[1, 13, 2], [1], [13], [2]]);
});
