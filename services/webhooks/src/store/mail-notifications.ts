import { bulk, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import type { HappeningType, MailFacts, MailTopic } from '../domain/mail-notification.ts';
import type { Backlog } from '../domain/mail-schedule.ts';
import { HOUR_MS, SINGLE_MAILS_PER_HOUR } from '../domain/mail-schedule.ts';
import { RECEIVES } from './mail-recipients.ts';

const given = bulk({
  accountId: 'text',
  eventKey: 'text',
  kind: 'text',
  topic: 'text',
  happenedAt: 'timestamptz',
  facts: 'text',
});
type NewNotification = Parameters<typeof given.values>[0][number] & { accountId: AccountId };

// Locks the recipients in order, so that no process finds nothing waiting while a notification is added.
const insertNotifications = statement(
  'mail_notifications_insert',
  `with given as materialized (select * from ${given.from('g')}),
   receivers as materialized (
     select key, account_id, kinds from mail_recipients
     where account_id in (select account_id from given) and ${RECEIVES} order by key for update),
   added as (
     insert into mail_notifications (recipient_key, event_key, kind, topic, happened_at, facts)
     select r.key, g.event_key, g.kind, g.topic, g.happened_at, g.facts::jsonb
     from given g join receivers r on r.account_id = g.account_id and g.kind = any(r.kinds)
     on conflict do nothing returning recipient_key)
   update mail_recipients set due_at = least(due_at, $7) where key in (select recipient_key from added)`,
);

/** A notification for each recipient that wants it, once for each event. */
export async function insertMailNotifications(
  trx: Trx,
  notifications: readonly NewNotification[],
  now: Date,
): Promise<void> {
  await trx.rows(insertNotifications, [...given.values(notifications), now]);
}

const selectBacklogs = query<Backlog>(
  'mail_backlogs',
  `select topic,
     (select count(*)::int from (select from mail_notifications n
      where n.recipient_key = $1 and n.mail_key is null and n.topic = named.topic limit $4) as first) as waiting,
     singles, oldest_single_at,
     (select max(created_at) from mails where recipient_key = $1 and type = 'summary' and topic = named.topic) as summary_at
   from unnest($2::text[]) with ordinality as named (topic, place), lateral (
     select count(*)::int as singles, min(created_at) as oldest_single_at from mails
     where recipient_key = $1 and type = 'notification' and topic = named.topic and created_at > $3) as lately
   order by place`,
);

/** What waits for a locked recipient, in the order of the topics. */
export const mailBacklogs = (
  trx: Trx,
  recipientKey: string,
  topics: readonly MailTopic[],
  now: Date,
): Promise<Backlog[]> =>
  trx.rows(selectBacklogs, [
    ...[recipientKey, topics],
    ...[new Date(now.getTime() - HOUR_MS), SINGLE_MAILS_PER_HOUR + 1],
  ]);

const takeOldest = statement(
  'mail_notification_take',
  `update mail_notifications set mail_key = $3 where (recipient_key, event_key) = (
     select recipient_key, event_key from mail_notifications
     where recipient_key = $1 and topic = $2 and mail_key is null order by happened_at, event_key limit 1)`,
);

const takeMany = statement(
  'mail_notifications_take',
  `update mail_notifications set mail_key = $3 where (recipient_key, event_key) in (
     select recipient_key, event_key from mail_notifications
     where recipient_key = $1 and topic = $2 and mail_key is null order by happened_at, event_key limit $4)`,
);

/** While they are summed up, the events of their account wait. The next summary has the others. */
const SUMMED_UP_MAX = 50_000;

/** Puts the oldest waiting notification of a topic, or as many of them as a summary may have, into a mail. */
export async function takeNotifications(
  trx: Trx,
  type: 'notification' | 'summary',
  { recipientKey, topic, mailKey }: { recipientKey: string; topic: MailTopic; mailKey: string },
): Promise<void> {
  if (type === 'notification') await trx.rows(takeOldest, [recipientKey, topic, mailKey]);
  else await trx.rows(takeMany, [recipientKey, topic, mailKey, SUMMED_UP_MAX]);
}

const removeWaiting = statement(
  'mail_notifications_remove_waiting',
  'delete from mail_notifications where recipient_key = $1 and mail_key is null',
);

/** Of a locked recipient that is told of nothing any more. */
export async function removeWaitingNotifications(trx: Trx, recipientKey: string): Promise<void> {
  await trx.rows(removeWaiting, [recipientKey]);
}

export type ToldNotification = { happenedAt: Date; facts: MailFacts };

const selectOne = query<ToldNotification>(
  'mail_notification_of_mail',
  'select happened_at, facts from mail_notifications where mail_key = $1 limit 1',
);

/** The notification of a single mail. */
export const notificationOfMail = (trx: Trx, mailKey: string): Promise<ToldNotification> =>
  trx.one(selectOne, [mailKey]);

type CountedNotifications = { type: HappeningType; count: number; fromTime: Date; toTime: Date };
const selectCounts = query<CountedNotifications>(
  'mail_summary_counts',
  `select facts ->> 'type' as type, count(*)::int, min(happened_at) as from_time, max(happened_at) as to_time
   from mail_notifications where mail_key = $1 group by 1 order by 1`,
);

export type SummedAmounts = { type: HappeningType; unit: string; total: string };
// Decimals of Postgres are exact.
const sumsOf = (name: string, amount: string, unit: string) =>
  query<SummedAmounts>(
    name,
    `select facts ->> 'type' as type, facts ->> '${unit}' as unit, trim_scale(sum((facts ->> '${amount}')::numeric))::text as total
     from mail_notifications where mail_key = $1 and facts ? '${amount}' and facts ? '${unit}' group by 1, 2 order by 1, 2`,
  );
const selectAmounts = sumsOf('mail_summary_amounts', 'amount', 'asset');
const selectPrices = sumsOf('mail_summary_prices', 'price', 'currency');

/** What the notifications of a summary come to. */
export async function summedNotifications(trx: Trx, mailKey: string) {
  const counts = await trx.rows(selectCounts, [mailKey]);
  const amounts = await trx.rows(selectAmounts, [mailKey]);
  const prices = await trx.rows(selectPrices, [mailKey]);
  return { counts, amounts, prices };
}
