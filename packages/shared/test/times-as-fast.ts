/** In the process of the test of `runService`. */
export const TIMES_AS_FAST = 4;
