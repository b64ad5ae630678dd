import { describe, expect, it } from '@jest/globals';
import { runWithHeartbeat, systemClock } from './clock.ts';

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

  it('may fail: the work ends before anybody is told', async () => {
    let ended = false;
    const failing = runWithHeartbeat(
      systemClock,
      1,
      () => Promise.reject(new Error('no')),
      async () => {
        await soon();
        ended = true;
      },
    );
    await expect(failing).rejects.toThrow('no');
    expect(ended).toBe(true);
  });

  it('leaves the failure of the work to be told', async () => {
    const failing = runWithHeartbeat(
      systemClock,
      1,
      () => Promise.reject(new Error('no')),
      async () => {
        await soon();
        throw new Error('the work failed');
      },
    );
    await expect(failing).rejects.toThrow('the work failed');
  });
});
