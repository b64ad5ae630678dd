import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, MailRecipientId } from '@quittance/shared/ids';
import type { MailKind } from '../domain/mail-notification.ts';

/**
 * An e-mail address that is told of events. Whoever adds a notification or a mail for it, sends one, or changes whether it receives
 * any, holds the lock of its row. It is the last lock of this schema: accounts and queues come before it.
 */
export type MailRecipient = {
  key: string;
  id: MailRecipientId;
  accountId: AccountId;
  address: string;
  kinds: MailKind[];
  createdAt: Date;
  /** SHA-256 of the code that was sent last. */
  codeHash: Buffer | null;
  codeExpiresAt: Date | null;
  wrongCodes: number;
  confirmedAt: Date | null;
  unsubscribedAt: Date | null;
  pausedAt: Date | null;
  pausedReason: string | null;
  stopToken: string;
  refusals: number;
  lastSentAt: Date | null;
  lastFailure: string | null;
  lastFailedAt: Date | null;
  claim: string | null;
};

const columns = `key, id, account_id, address, kinds, created_at, code_hash, code_expires_at, wrong_codes, confirmed_at,
  unsubscribed_at, paused_at, paused_reason, stop_token, refusals, last_sent_at, last_failure, last_failed_at, claim`;

/** Those that are told of events. */
export const RECEIVES = 'confirmed_at is not null and unsubscribed_at is null and paused_at is null';

const selectOfAccount = query<MailRecipient>(
  'mail_recipients_of_account',
  `select ${columns} from mail_recipients where account_id = $1 order by key`,
);

/** The oldest first. */
export const mailRecipientsOf = (db: Queryable, account: AccountId): Promise<MailRecipient[]> =>
  db.rows(selectOfAccount, [account]);

const selectOne = query<MailRecipient>(
  'mail_recipient_by_id',
  `select ${columns} from mail_recipients where id = $1`,
);

export const findMailRecipient = (db: Queryable, id: string): Promise<MailRecipient | undefined> =>
  db.maybe(selectOne, [id]);

const selectByStopToken = query<MailRecipient>(
  'mail_recipient_by_stop_token',
  `select ${columns} from mail_recipients where stop_token = $1`,
);

export const findByStopToken = (db: Queryable, token: string): Promise<MailRecipient | undefined> =>
  db.maybe(selectByStopToken, [token]);

const lockOne = query<MailRecipient>(
  'mail_recipient_lock',
  `select ${columns} from mail_recipients where key = $1 for update`,
);

/** Undefined when it was removed. */
export const lockMailRecipient = (trx: Trx, key: string): Promise<MailRecipient | undefined> =>
  trx.maybe(lockOne, [key]);

const insertOne = query<MailRecipient>(
  'mail_recipient_insert',
  `insert into mail_recipients (id, account_id, address, kinds, created_at, stop_token)
   values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
);

type NewMailRecipient = Pick<
  MailRecipient,
  'id' | 'accountId' | 'address' | 'kinds' | 'createdAt' | 'stopToken'
>;

export const insertMailRecipient = (
  trx: Trx,
  { id, accountId, address, kinds, createdAt, stopToken }: NewMailRecipient,
): Promise<MailRecipient> => trx.one(insertOne, [id, accountId, address, kinds, createdAt, stopToken]);

const changeKinds = statement('mail_recipient_kinds', 'update mail_recipients set kinds = $2 where key = $1');

export async function changeMailKinds(trx: Trx, key: string, kinds: readonly MailKind[]): Promise<void> {
  await trx.rows(changeKinds, [key, kinds]);
}

const remove = statement('mail_recipient_remove', 'delete from mail_recipients where key = $1');

/** With its notifications and mails. */
export async function removeMailRecipient(trx: Trx, key: string): Promise<void> {
  await trx.rows(remove, [key]);
}

const storeCode = statement(
  'mail_recipient_code',
  'update mail_recipients set code_hash = $2, code_expires_at = $3, wrong_codes = 0 where key = $1',
);

/** A new code takes the place of the former one. */
export async function storeMailCode(trx: Trx, key: string, hash: Buffer, expiresAt: Date): Promise<void> {
  await trx.rows(storeCode, [key, hash, expiresAt]);
}

const countWrong = statement(
  'mail_recipient_wrong_code',
  'update mail_recipients set wrong_codes = wrong_codes + 1 where key = $1',
);

export async function countWrongCode(trx: Trx, key: string): Promise<void> {
  await trx.rows(countWrong, [key]);
}

const confirm = statement(
  'mail_recipient_confirm',
  `update mail_recipients set confirmed_at = $2, code_hash = null, code_expires_at = null, wrong_codes = 0,
     unsubscribed_at = null, paused_at = null, paused_reason = null, refusals = 0, last_failure = null, last_failed_at = null
   where key = $1`,
);

export async function confirmMailRecipientRow(trx: Trx, key: string, now: Date): Promise<void> {
  await trx.rows(confirm, [key, now]);
}

// A code that is on its way does not count any more either.
const stop = statement(
  'mail_recipient_unsubscribe',
  `update mail_recipients set unsubscribed_at = $2, code_hash = null, code_expires_at = null where key = $1`,
);

export async function unsubscribeRow(trx: Trx, key: string, now: Date): Promise<void> {
  await trx.rows(stop, [key, now]);
}

const noteSent = statement(
  'mail_recipient_sent',
  'update mail_recipients set last_sent_at = $2, refusals = 0 where key = $1',
);

export async function noteMailSent(trx: Trx, key: string, now: Date): Promise<void> {
  await trx.rows(noteSent, [key, now]);
}

const noteFailed = statement(
  'mail_recipient_failed',
  'update mail_recipients set last_failure = $2, last_failed_at = $3, refusals = $4 where key = $1',
);

export async function noteMailFailed(
  trx: Trx,
  key: string,
  { reason, now, refusals }: { reason: string; now: Date; refusals: number },
): Promise<void> {
  await trx.rows(noteFailed, [key, reason, now, refusals]);
}

const pause = statement(
  'mail_recipient_pause',
  'update mail_recipients set paused_at = $2, paused_reason = $3 where key = $1',
);

export async function pauseMailRecipient(trx: Trx, key: string, now: Date, why: string): Promise<void> {
  await trx.rows(pause, [key, now, why]);
}
