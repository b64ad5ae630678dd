import { bad, type Finding, ok } from './finding.ts';

/** What an installation stands without harm: a request of a merchant is old after minutes, a lease after seconds. */
const OFF_MAX_MS = 2_000;
const MS = 1_000;

/** A clock somewhere else: what it said, and between which times of our own. */
export type ClockReading = { subject: string; time: Date; before: Date; after: Date };

/** Compares a clock with this machine's. The time of the question counts for it: somewhere in there it looked at its clock. */
export function clockFinding({ subject, time, before, after }: ClockReading): Finding {
  const early = before.getTime() - time.getTime();
  const late = time.getTime() - after.getTime();
  const off = Math.max(early, late, 0);
  if (off <= OFF_MAX_MS) {
    const exact = (after.getTime() - before.getTime()) / MS;
    return ok(
      'clock',
      subject,
      off === 0 ? `as this machine's, within ${exact} s` : `${off / MS} s from this machine's`,
    );
  }
  return bad(
    'problem',
    'clock',
    subject,
    `${(off / MS).toFixed(1)} s ${late > 0 ? 'ahead of' : 'behind'} this machine's clock`,
    'Set both clocks by NTP (timedatectl shows whether it runs), and look which of them is wrong.',
  );
}
