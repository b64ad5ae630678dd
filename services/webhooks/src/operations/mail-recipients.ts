import { hash, timingSafeEqual } from 'node:crypto';
import type { Queryable, Trx } from '@quittance/shared/db';
import type { AccessRefusal } from '@quittance/shared/http-answers';
import { type AccountId, newMailId, newMailRecipientId, type Random } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { MailKind } from '../domain/mail-notification.ts';
import { CODES_STOPPED_DAYS } from '../domain/mail-schedule.ts';
import { mailStatusOf } from '../domain/mail-status.ts';
import type { Ports } from '../ports.ts';
import { lockAccount } from '../store/endpoints.ts';
import { removeWaitingNotifications } from '../store/mail-notifications.ts';
import {
  changeMailKinds,
  confirmMailRecipientRow,
  countWrongCode,
  findByStopToken,
  findMailRecipient,
  insertMailRecipient,
  lockMailRecipient,
  type MailRecipient,
  mailRecipientsOf,
  removeMailRecipient,
  unsubscribeRow,
} from '../store/mail-recipients.ts';
import {
  cancelMails,
  codesAsked,
  insertMail,
  lastMailAt,
  lockMailAddress,
  noteMailCode,
  noteMailStop,
  setRecipientDue,
  wakeRecipient,
} from '../store/mails.ts';

export const MAIL_RECIPIENTS_MAX = 10;
const WRONG_CODES_MAX = 5;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Codes that an address is sent within a day, by whichever account, and that an account has sent. */
export const CODES_PER_ADDRESS = 5;
export const CODES_PER_ACCOUNT = 20;
const STOP_TOKEN_BYTES = 24;

export type CodeRefusal = 'no_mail' | 'stopped' | 'too_soon' | 'too_many_codes';
type Changing = Pick<Ports, 'db' | 'clock' | 'random' | 'mailer'>;

/** One recipient of the account. */
export async function readMailRecipient(
  { db }: { db: Queryable },
  account: AccountId,
  id: string,
): Promise<Result<MailRecipient, AccessRefusal>> {
  const found = await findMailRecipient(db, id);
  if (found === undefined) return refuse('not_found');
  return found.accountId === account ? ok(found) : refuse('forbidden');
}

/** The same, locked until the transaction ends. */
async function lockOwn(
  trx: Trx,
  account: AccountId,
  id: string,
): Promise<Result<MailRecipient, AccessRefusal>> {
  const found = await readMailRecipient({ db: trx }, account, id);
  if (!found.ok) return found;
  const locked = await lockMailRecipient(trx, found.value.key);
  return locked === undefined ? refuse('not_found') : ok(locked);
}

/** Changes a locked recipient of the account, and returns it as it is then. */
async function changeOwn<R>(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
  change: (trx: Trx, recipient: MailRecipient) => Promise<Result<unknown, R>>,
): Promise<Result<MailRecipient, R | AccessRefusal>> {
  return await db.transaction(async (trx) => {
    const found = await lockOwn(trx, account, id);
    if (!found.ok) return found;
    const changed = await change(trx, found.value);
    return changed.ok ? await readMailRecipient({ db: trx }, account, id) : changed;
  });
}

export type AddRefusal = CodeRefusal | 'too_many' | 'taken';

/** Adds an address, and sends it a code. It is told of nothing until the code is given back. */
export async function addMailRecipient(
  ports: Changing,
  accountId: AccountId,
  { address, kinds }: Pick<MailRecipient, 'address' | 'kinds'>,
): Promise<Result<MailRecipient, AddRefusal>> {
  const now = ports.clock.now();
  const id = newMailRecipientId(now, ports.random);
  const stopToken = Buffer.from(ports.random(STOP_TOKEN_BYTES)).toString('base64url');
  return await ports.db.transaction(async (trx) => {
    // Of two concurrent requests only one may add the tenth.
    await lockAccount(trx, accountId);
    const present = await mailRecipientsOf(trx, accountId);
    if (present.length >= MAIL_RECIPIENTS_MAX) return refuse('too_many');
    if (present.some((one) => one.address.toLowerCase() === address.toLowerCase())) return refuse('taken');
    const refused = await refusedCode(trx, ports, accountId, address, now);
    if (refused !== undefined) return refuse(refused);
    const made = await insertMailRecipient(trx, {
      ...{ id, accountId, address, kinds, createdAt: now, stopToken },
    });
    await queueCode(trx, made, ports.random, now);
    return ok(made);
  });
}

async function refusedCode(
  trx: Trx,
  { mailer }: Pick<Ports, 'mailer'>,
  account: AccountId,
  address: string,
  now: Date,
): Promise<CodeRefusal | undefined> {
  if (mailer === undefined) return 'no_mail';
  await lockMailAddress(trx, address);
  const asked = await codesAsked(trx, account, address, new Date(now.getTime() - DAY_MS));
  const { stoppedAt } = asked;
  if (stoppedAt !== null && now.getTime() - stoppedAt.getTime() < CODES_STOPPED_DAYS * DAY_MS)
    return 'stopped';
  if (asked.lastToAddress !== null && now.getTime() - asked.lastToAddress.getTime() < MINUTE_MS)
    return 'too_soon';
  const isTooMany = asked.toAddress >= CODES_PER_ADDRESS || asked.ofAccount >= CODES_PER_ACCOUNT;
  return isTooMany ? 'too_many_codes' : undefined;
}

/** The code itself is made when the mail is sent, so that it is stored nowhere. */
async function queueCode(
  trx: Trx,
  { key, accountId, address }: MailRecipient,
  random: Random,
  now: Date,
): Promise<void> {
  await noteMailCode(trx, accountId, address, now);
  await cancelMails(trx, key, now, 'confirmation');
  await insertMail(
    trx,
    { recipientKey: key, id: newMailId(now, random), type: 'confirmation', topic: null },
    now,
  );
  await wakeRecipient(trx, key, now);
}

/** Sends another code: to an address that is not confirmed, or that has been unsubscribed or paused. */
export async function sendMailCode(
  ports: Changing,
  account: AccountId,
  id: string,
): Promise<Result<MailRecipient, CodeRefusal | 'confirmed' | AccessRefusal>> {
  const now = ports.clock.now();
  return await ports.db.transaction(async (trx) => {
    // The lock of the account comes before that of the recipient, and makes the limits exact.
    const known = await readMailRecipient({ db: trx }, account, id);
    if (!known.ok) return known;
    await lockAccount(trx, account);
    const found = await lockOwn(trx, account, id);
    if (!found.ok) return found;
    if (mailStatusOf(found.value) === 'active') return refuse('confirmed');
    const refused = await refusedCode(trx, ports, account, found.value.address, now);
    if (refused !== undefined) return refuse(refused);
    await queueCode(trx, found.value, ports.random, now);
    return ok(found.value);
  });
}

/** As it is stored. People may leave out the hyphens, or write small letters. */
export const mailCodeHash = (code: string): Buffer =>
  hash('sha256', code.replace(/[\s-]/g, '').toLowerCase(), 'buffer');

/** Confirms an address by the code that was sent to it. A code counts once, for a day and for five attempts. */
export async function confirmMailRecipient(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  account: AccountId,
  id: string,
  code: string,
): Promise<Result<MailRecipient, 'wrong_code' | 'no_code' | AccessRefusal>> {
  const now = clock.now();
  return await changeOwn({ db }, account, id, async (trx, recipient) => {
    const { key, codeHash, codeExpiresAt, wrongCodes } = recipient;
    const isOpen = codeExpiresAt !== null && codeExpiresAt > now && wrongCodes < WRONG_CODES_MAX;
    if (codeHash === null || !isOpen) return refuse('no_code');
    if (!timingSafeEqual(codeHash, mailCodeHash(code))) {
      await countWrongCode(trx, key);
      return refuse('wrong_code');
    }
    await confirmMailRecipientRow(trx, key, now);
    return ok(null);
  });
}

/** Changes what a recipient is told of from now on. */
export const changeMailRecipient = (
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
  kinds: readonly MailKind[],
): Promise<Result<MailRecipient, AccessRefusal>> =>
  changeOwn({ db }, account, id, async (trx, { key }) => ok(await changeMailKinds(trx, key, kinds)));

/** Removes an address. Nothing more is sent to it, apart from a mail that is being sent. */
export async function deleteMailRecipient(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
): Promise<Result<null, AccessRefusal>> {
  return await db.transaction(async (trx) => {
    const found = await lockOwn(trx, account, id);
    if (!found.ok) return found;
    await removeMailRecipient(trx, found.value.key);
    return ok(null);
  });
}

export type TestRefusal = 'no_mail' | 'too_soon' | 'inactive';

/** Queues a test mail, at most one a minute. */
export async function testMailRecipient(
  { db, clock, random, mailer }: Changing,
  account: AccountId,
  id: string,
): Promise<Result<MailRecipient, TestRefusal | AccessRefusal>> {
  const now = clock.now();
  return await changeOwn<TestRefusal>({ db }, account, id, async (trx, recipient) => {
    if (mailer === undefined) return refuse('no_mail');
    if (mailStatusOf(recipient) !== 'active') return refuse('inactive');
    const last = await lastMailAt(trx, recipient.key, 'test');
    if (last !== undefined && now.getTime() - last.getTime() < MINUTE_MS) return refuse('too_soon');
    const mail = {
      recipientKey: recipient.key,
      id: newMailId(now, random),
      type: 'test',
      topic: null,
    } as const;
    await insertMail(trx, mail, now);
    await wakeRecipient(trx, recipient.key, now);
    return ok(null);
  });
}

/** The recipient whose mails have this token in their links. */
export const findStopLink = ({ db }: Pick<Ports, 'db'>, token: string): Promise<MailRecipient | undefined> =>
  findByStopToken(db, token);

/**
 * Stops the mails to a recipient, who needs no session for it. Doing so again changes nothing. Who stops a code is sent no other one
 * for a while; who had confirmed the address, and stops the mails, may confirm it again.
 */
export async function unsubscribe(
  { db, clock, logger }: Pick<Ports, 'db' | 'clock' | 'logger'>,
  { key, id, accountId }: MailRecipient,
): Promise<void> {
  const now = clock.now();
  const stopped = await db.transaction(async (trx) => {
    const recipient = await lockMailRecipient(trx, key);
    if (recipient === undefined || hasStopped(recipient)) return false;
    const { address, confirmedAt, unsubscribedAt } = recipient;
    if (confirmedAt === null || unsubscribedAt !== null) await noteMailStop(trx, accountId, address, now);
    await unsubscribeRow(trx, key, now);
    await endWaiting(trx, key, now);
    return true;
  });
  if (stopped) logger.info({ recipient: id, account: accountId }, 'a recipient has stopped the e-mails');
}

/** Whether a recipient has stopped the mails, and was sent no code since. */
export const hasStopped = ({ unsubscribedAt, codeHash }: MailRecipient): boolean =>
  unsubscribedAt !== null && codeHash === null;

/** Nothing that waits for a locked recipient is sent any more. */
export async function endWaiting(trx: Trx, key: string, now: Date): Promise<void> {
  await cancelMails(trx, key, now);
  await removeWaitingNotifications(trx, key);
  await setRecipientDue(trx, key, null);
}
