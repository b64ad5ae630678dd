import { assertNever } from '@quittance/shared/result';
import type { MailTopic } from './mail-notification.ts';

/** Single mails about a topic that a recipient gets in an hour. Further notifications are summed up in one mail an hour. */
export const SINGLE_MAILS_PER_HOUR = 10;
export const HOUR_MS = 3_600_000;

/** What waits for a recipient about a topic, and the mails about it that were made lately. */
export type Backlog = {
  topic: MailTopic;
  /** Notifications that no mail contains: all of them, or one more than single mails an hour. */
  waiting: number;
  /** Single mails within the last hour, and when the oldest of them was made. */
  singles: number;
  oldestSingleAt: Date | null;
  /** When the last summary was made. */
  summaryAt: Date | null;
};

export type NextMail =
  | { type: 'notification' | 'summary'; topic: MailTopic }
  /** Nothing before this time. */
  | { type: 'wait'; until: Date }
  | { type: 'nothing' };

/**
 * The next mail about what waits. While no more than ten single mails an hour are needed, each notification has its own. Otherwise
 * notifications wait until an hour after the last summary, or after the oldest single mail, and are summed up.
 */
export function nextMail(backlogs: readonly Backlog[], now: Date): NextMail {
  const wanted = backlogs.map((backlog) => nextOfTopic(backlog, now));
  const ready = wanted.find(({ type }) => type === 'notification' || type === 'summary');
  if (ready !== undefined) return ready;
  const waits = wanted.flatMap((one) => (one.type === 'wait' ? [one] : []));
  return (
    waits.toSorted((a, b) => a.until.getTime() - b.until.getTime()).at(0) ?? {
      type: 'nothing',
    }
  );
}

function nextOfTopic({ topic, waiting, singles, oldestSingleAt, summaryAt }: Backlog, now: Date): NextMail {
  if (waiting === 0) return { type: 'nothing' };
  const sums = summaryAt !== null && summaryAt.getTime() + HOUR_MS > now.getTime();
  if (!sums && singles + waiting <= SINGLE_MAILS_PER_HOUR) return { type: 'notification', topic };
  const since = Math.max(summaryAt?.getTime() ?? 0, oldestSingleAt?.getTime() ?? 0);
  const until = new Date(since + HOUR_MS);
  if (until > now) return { type: 'wait', until };
  return { type: waiting === 1 ? 'notification' : 'summary', topic };
}

const MINUTE = 60_000;

/** The pause before each further attempt, after a failure that may pass. */
export const mailPauses = [1, 5, 15, 60, 120, 240, 480, 720].map((minutes) => minutes * MINUTE);

/** How a mail server has answered. Only what it says of the recipient or of the mail is `refused`. */
export type MailResult =
  | { kind: 'sent' }
  | { kind: 'refused'; reason: string }
  | { kind: 'postponed'; reason: string }
  /** This process ended the attempt. */
  | { kind: 'stopped' };

export type MailUpdate = { state: 'waiting'; dueAt: Date; isCounted: boolean } | { state: 'sent' | 'failed' };

/** What becomes of a mail. @param attempts those before this one */
export function mailAfter(attempts: number, result: MailResult, now: Date): MailUpdate {
  switch (result.kind) {
    case 'sent':
      return { state: 'sent' };
    case 'refused':
      return { state: 'failed' };
    case 'stopped':
      return { state: 'waiting', dueAt: now, isCounted: false };
    case 'postponed': {
      const pause = mailPauses[attempts];
      return pause === undefined
        ? { state: 'failed' }
        : { state: 'waiting', dueAt: new Date(now.getTime() + pause), isCounted: true };
    }
    default:
      return assertNever(result);
  }
}

/** So long an account sends no code to an address whose reader has stopped one. */
export const CODES_STOPPED_DAYS = 30;

/** So many mails in a row that the mail server refuses pause a recipient. */
export const REFUSALS_MAX = 5;
