import { aheadMs, CLOCKS_APART_MAX_MS, type ClockReading } from '@quittance/shared/clock-watch';
import { bad, type Finding, ok } from './finding.ts';

const MS = 1_000;

/** Compares a clock with this machine's. */
export function clockFinding({ subject, ...reading }: ClockReading & { subject: string }): Finding {
  // Of that clock, as the reader of this line is told of it.
  const ahead = -aheadMs(reading);
  const off = Math.abs(ahead);
  if (off <= CLOCKS_APART_MAX_MS) {
    const exact = (reading.after.getTime() - reading.before.getTime()) / MS;
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
    `${(off / MS).toFixed(1)} s ${ahead > 0 ? 'ahead of' : 'behind'} this machine's clock`,
    'Set both clocks by NTP (timedatectl shows whether it runs), and look which of them is wrong.',
  );
}
