import type { Trx } from '@quittance/shared/db';
import { type MailNotification, topicOf } from '../domain/mail-notification.ts';
import type { Ports } from '../ports.ts';
import { insertMailNotifications } from '../store/mail-notifications.ts';

/** Queues what recipients are told by e-mail, in the transaction in which it happens. Without a mail server nothing is queued. */
export async function recordMailNotifications(
  trx: Trx,
  notifications: readonly MailNotification[],
  mailer: Ports['mailer'],
  now: Date,
): Promise<void> {
  if (mailer === undefined || notifications.length === 0) return;
  const rows = notifications.map(({ kind, facts, ...notification }) => ({
    ...notification,
    kind,
    topic: topicOf(kind),
    facts: JSON.stringify(facts),
  }));
  await insertMailNotifications(trx, rows, now);
}
