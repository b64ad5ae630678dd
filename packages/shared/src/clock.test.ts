import { describe, expect, it, test } from '@jest/globals';
import { remembered, runWithHeartbeat, systemClock } from './clock.ts';

const soon = () => new Promise((resolve) => setTimeout(resolve, 30));

describe('what is done meanwhile', () => {
  it('is done again and again until the work ends, and not after it', async () => {
    let times = 0;
    const done = await runWithHeartbeat(
      systemClock,
      1,
      async () => {
        times += 1;
      },
      async () => {
        while (times < 3) await soon();
        return 'done';
      },
    );
    expect(done).toBe('done');
    const before = times;
    await soon();
    expect(times).toBe(before);
  });

  it.each([
    ['its own failure when the work succeeds', undefined, 'no'],
    ['the failure of the work', 'the work failed', 'the work failed'],
  ])('may fail: the work ends first, and what is told is %s', async (_what, failure, told) => {
    let ended = false;
    const failing = runWithHeartbeat(
      systemClock,
      1,
      () => Promise.reject(new Error('no')),
      async () => {
        await soon();
        ended = true;
        if (failure !== undefined) throw new Error(failure);
      },
    );
    await expect(failing).rejects.toThrow(told);
    expect(ended).toBe(true);
  });
});

/** A check that ends when it is told to, on a clock that is set by hand. */
function aCheck() {
  const asked: PromiseWithResolvers<string>[] = [];
  const clock = { ms: 5 };
  const ask = remembered(
    () => {
      const answer = Promise.withResolvers<string>();
      asked.push(answer);
      return answer.promise;
    },
    1_000,
    () => clock.ms,
  );
  return { asked, clock, ask };
}

test('all who ask while a check runs have its answer, however long it takes', async () => {
  const { asked, clock, ask } = aCheck();
  const answers = [ask(), ask()];
  clock.ms += 60_000;
  answers.push(ask());
  asked[0]?.resolve('ready');
  expect(await Promise.all(answers)).toEqual(['ready', 'ready', 'ready']);
  expect(asked).toHaveLength(1);
});

test('an answer is told again for a second after the check, and no longer', async () => {
  const { asked, clock, ask } = aCheck();
  const first = ask();
  clock.ms += 10_000;
  asked[0]?.resolve('ready');
  await first;
  clock.ms += 999;
  expect(await ask()).toBe('ready');
  clock.ms += 1;
  const later = ask();
  asked[1]?.resolve('the database');
  expect(await later).toBe('the database');
  expect(asked).toHaveLength(2);
});

test('a check that fails fails for all requests that waited for it, and the next request checks again', async () => {
  const { asked, ask } = aCheck();
  const answers = Promise.allSettled([ask(), ask()]);
  asked[0]?.reject(new Error('broken'));
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const next = ask();
  asked[1]?.resolve('ready');
  expect(await next).toBe('ready');
});
