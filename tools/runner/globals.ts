import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import { getState } from 'jest-circus';
import { ModuleMocker } from 'jest-mock';

/* What suites import from `@jest/globals`, for `suite.ts`. */
// biome-ignore lint/performance/noBarrelFile: it stands for another package
export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';
export { jestExpect as expect };

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ global: globalThis, config: { fakeTimers: {}, rootDir: '' } as never });

/** The part of it that is used here; there are no mocked modules, since modules are shared. */
export const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (config?: Parameters<typeof timers.useFakeTimers>[0]) => timers.useFakeTimers(config),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms: number) => timers.advanceTimersByTime(ms),
  /** Of each test of the suite that says nothing else. */
  setTimeout(ms: number) {
    getState().testTimeout = ms;
  },
};

/** After a suite: what it has mocked is itself again. */
export function restoreGlobals(): void {
  mocker.restoreAllMocks();
  timers.useRealTimers();
}
