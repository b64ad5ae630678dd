import { expect } from '@jest/globals';

/** What is seen of a command that is refused: why, on standard error alone, and exit code 1. */
export const refusal = (why: string | RegExp) => ({
  code: 1,
  out: '',
  err: typeof why === 'string' ? expect.stringContaining(why) : expect.stringMatching(why),
});
