import { type Db, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, MailId } from '@quittance/shared/ids';
import type { MailTopic } from '../domain/mail-notification.ts';
import type { MailUpdate } from '../domain/mail-schedule.ts';
import type { MailRecipient } from './mail-recipients.ts';

export type MailType = 'confirmation' | 'test' | 'notification' | 'summary';

/** A mail that waits to be sent. */
export type Mail = { key: string; id: MailId; type: MailType; topic: MailTopic | null; attempts: number };

const columns = 'key, id, type, topic, attempts';

const insertOne = query<Mail>(
  'mail_insert',
  `insert into mails (recipient_key, id, type, topic, state, created_at, due_at)
   values ($1, $2, $3, $4, 'waiting', $5, $5) returning ${columns}`,
);

type NewMail = Pick<Mail, 'id' | 'type' | 'topic'> & { recipientKey: string };

/** Stores a mail for a locked recipient, due now. */
export const insertMail = (trx: Trx, { recipientKey, id, type, topic }: NewMail, now: Date): Promise<Mail> =>
  trx.one(insertOne, [recipientKey, id, type, topic, now]);

const selectDue = query<Mail & { dueAt: Date }>(
  'mail_waiting',
  `select ${columns}, due_at from mails where recipient_key = $1 and state = 'waiting' order by due_at, key limit 1`,
);

/** The waiting mail of a locked recipient that is due first. */
export const firstWaitingMail = (
  trx: Trx,
  recipientKey: string,
): Promise<(Mail & { dueAt: Date }) | undefined> => trx.maybe(selectDue, [recipientKey]);

const lastOfType = query<{ createdAt: Date }>(
  'mail_last_of_type',
  'select created_at from mails where recipient_key = $1 and type = $2 order by created_at desc limit 1',
);

export const lastMailAt = async (trx: Trx, recipientKey: string, type: MailType): Promise<Date | undefined> =>
  (await trx.maybe(lastOfType, [recipientKey, type]))?.createdAt;

const update = statement(
  'mail_update',
  `update mails set state = $2, due_at = coalesce($3, due_at), attempts = attempts + $4, failure = $5,
     ended_at = case when $2 = 'waiting' then null else $6::timestamptz end
   where key = $1 and state = 'waiting'`,
);

/** Stores what has become of a waiting mail. */
export async function updateMail(
  trx: Trx,
  key: string,
  after: MailUpdate,
  { failure, now }: { failure: string | null; now: Date },
): Promise<void> {
  const isWaiting = after.state === 'waiting';
  const counted = isWaiting && !after.isCounted ? 0 : 1;
  await trx.rows(update, [key, after.state, isWaiting ? after.dueAt : null, counted, failure, now]);
}

const cancel = statement(
  'mails_cancel',
  `update mails set state = 'cancelled', ended_at = $2 where recipient_key = $1 and state = 'waiting'
     and ($3::text is null or type = $3)`,
);

/** Cancels the waiting mails of a locked recipient, or those of one type. */
export async function cancelMails(trx: Trx, recipientKey: string, now: Date, type?: MailType): Promise<void> {
  await trx.rows(cancel, [recipientKey, now, type ?? null]);
}

const lockDue = query<Pick<MailRecipient, 'key'>>(
  'mail_recipient_lock_due',
  `select key from mail_recipients where due_at <= $1 and (claimed_until is null or claimed_until <= $1)
   order by due_at limit 1 for update skip locked`,
);

/** Locks the recipient that has waited longest and to which no process sends a mail now. */
export const lockDueRecipient = async (trx: Trx, now: Date): Promise<string | undefined> =>
  (await trx.maybe(lockDue, [now]))?.key;

const claimOne = statement(
  'mail_recipient_claim',
  'update mail_recipients set claim = $2, claimed_until = $3 where key = $1',
);

export async function claimRecipient(trx: Trx, key: string, claim: string, until: Date): Promise<void> {
  await trx.rows(claimOne, [key, claim, until]);
}

const setDue = statement(
  'mail_recipient_due',
  'update mail_recipients set due_at = $2, claim = null, claimed_until = null where key = $1',
);

/** When to look at a locked recipient again; null: when something is added for it. Ends its claim. */
export async function setRecipientDue(trx: Trx, key: string, at: Date | null): Promise<void> {
  await trx.rows(setDue, [key, at]);
}

const postpone = statement(
  'mail_recipient_postpone',
  'update mail_recipients set due_at = $3 where key = $1 and (claimed_until is null or claimed_until <= $2)',
);

/** Looks later at a recipient to which no process sends a mail now. */
export async function postponeRecipient(
  db: Queryable,
  key: string,
  { now, until }: { now: Date; until: Date },
): Promise<void> {
  await db.rows(postpone, [key, now, until]);
}

const wake = statement(
  'mail_recipient_wake',
  'update mail_recipients set due_at = least(due_at, $2) where key = $1',
);

/** A mail was added for a locked recipient. A claim of it goes on. */
export async function wakeRecipient(trx: Trx, key: string, now: Date): Promise<void> {
  await trx.rows(wake, [key, now]);
}

const noteCode = statement(
  'mail_code_note',
  'insert into mail_codes (account_id, address, requested_at) values ($1, $2, $3)',
);

export async function noteMailCode(trx: Trx, account: AccountId, address: string, now: Date): Promise<void> {
  await trx.rows(noteCode, [account, address.toLowerCase(), now]);
}

const lockAddress = statement(
  'mail_address_lock',
  `select pg_advisory_xact_lock(hashtextextended('mail ' || $1::text, 0))`,
);

/** Accounts that ask for a code to the same address wait for each other, until the transaction ends. */
export async function lockMailAddress(trx: Trx, address: string): Promise<void> {
  await trx.rows(lockAddress, [address.toLowerCase()]);
}

const noteStop = statement(
  'mail_stop_note',
  `insert into mail_stops (account_id, address, stopped_at) values ($1, $2, $3)
   on conflict (account_id, address) do update set stopped_at = excluded.stopped_at`,
);

/** Whoever reads the address wants no code of the account. */
export async function noteMailStop(trx: Trx, account: AccountId, address: string, now: Date): Promise<void> {
  await trx.rows(noteStop, [account, address.toLowerCase(), now]);
}

/** Codes that were asked for since a time, when the last one was, and when a code of the account was stopped by who got it. */
export type CodesAsked = {
  toAddress: number;
  ofAccount: number;
  lastToAddress: Date | null;
  stoppedAt: Date | null;
};

const selectCodes = query<CodesAsked>(
  'mail_codes_asked',
  `select
     (select count(*)::int from mail_codes where address = $2 and requested_at > $3) as to_address,
     (select count(*)::int from mail_codes where account_id = $1 and requested_at > $3) as of_account,
     (select max(requested_at) from mail_codes where address = $2 and requested_at > $3) as last_to_address,
     (select stopped_at from mail_stops where account_id = $1 and address = $2) as stopped_at`,
);

export const codesAsked = (
  db: Queryable,
  account: AccountId,
  address: string,
  since: Date,
): Promise<CodesAsked> => db.one(selectCodes, [account, address.toLowerCase(), since]);

const prune = (name: string, table: string, time: string, where = '') =>
  query<{ pruned: number }>(
    name,
    `with old as materialized (select ctid from ${table} where ${time} < $1 ${where} limit $2),
     gone as (delete from ${table} t using old where t.ctid = old.ctid returning 1)
     select count(*)::int as pruned from gone`,
  );
const pruneCodes = prune('mail_codes_prune', 'mail_codes', 'requested_at');
const pruneStops = prune('mail_stops_prune', 'mail_stops', 'stopped_at');
const pruneEnded = prune('mails_prune', 'mails', 'created_at', `and state <> 'waiting'`);
// Those that a mail contains go with it.
const pruneUntold = prune(
  'mail_notifications_prune',
  'mail_notifications',
  'happened_at',
  'and mail_key is null',
);

/** Removes at most so many old rows of each table. @returns the largest number */
export async function pruneMailRows(
  db: Db,
  {
    mailsBefore,
    codesBefore,
    stopsBefore,
    limit,
  }: { mailsBefore: Date; codesBefore: Date; stopsBefore: Date; limit: number },
): Promise<number> {
  const codes = await db.one(pruneCodes, [codesBefore, limit]);
  const stops = await db.one(pruneStops, [stopsBefore, limit]);
  const mails = await db.one(pruneEnded, [mailsBefore, limit]);
  const notifications = await db.one(pruneUntold, [mailsBefore, limit]);
  return Math.max(codes.pruned, stops.pruned, mails.pruned, notifications.pruned);
}
