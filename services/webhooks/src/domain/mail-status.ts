/** Whether an address is told of events: only while it is `active`. */
export const mailStatuses = ['unconfirmed', 'active', 'unsubscribed', 'paused'] as const;
export type MailStatus = (typeof mailStatuses)[number];

type Times = { confirmedAt: Date | null; unsubscribedAt: Date | null; pausedAt: Date | null };

export function mailStatusOf({ confirmedAt, unsubscribedAt, pausedAt }: Times): MailStatus {
  if (unsubscribedAt !== null) return 'unsubscribed';
  if (confirmedAt === null) return 'unconfirmed';
  return pausedAt === null ? 'active' : 'paused';
}
