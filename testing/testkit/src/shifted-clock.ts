/**
 * The environment of a Node process whose machine's clock is wrong by so much: `Date` says another time in all of its code, and
 * timers last as long as ever. A negative number is a clock that is behind.
 */
export function shiftedClock(ms: number): { NODE_OPTIONS: string } {
  const code = `const Real = Date; const by = ${ms};
globalThis.Date = class Date extends Real {
  constructor(...given) { if (given.length === 0) super(Real.now() + by); else super(...given); }
  static now() { return Real.now() + by; }
};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}
