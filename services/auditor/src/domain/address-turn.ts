/** With a comparison a minute, a quarter of a million addresses are looked at in a day. */
export const ADDRESSES_AT_ONCE = 200;
const DAY_MS = 24 * 3_600_000;
/** A node that cannot read all outputs now is asked again after this time. */
export const LOOK_AGAIN_AFTER_MS = 3_600_000;

/** Where the next turn begins, after these addresses were looked at. Fewer than there can be: the round has ended. */
export function nextTurn(looked: readonly string[]): string {
  return looked.length < ADDRESSES_AT_ONCE ? '' : (looked.at(-1) ?? '');
}

/** Whether a whole look at the addresses of a chain is due, where a node can only read all of them at once. */
export const isLookDue = (nextAt: Date | undefined, now: Date): boolean =>
  nextAt === undefined || now >= nextAt || nextAt.getTime() - now.getTime() > DAY_MS;

export const tomorrow = (now: Date): Date => new Date(now.getTime() + DAY_MS);
