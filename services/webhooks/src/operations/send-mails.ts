import type { Trx } from '@quittance/shared/db';
import { newMailId } from '@quittance/shared/ids';
import { reason as reasonOf } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import { mailTopics } from '../domain/mail-notification.ts';
import { type MailResult, mailAfter, nextMail, REFUSALS_MAX } from '../domain/mail-schedule.ts';
import { mailStatusOf } from '../domain/mail-status.ts';
import {
  confirmationMail,
  type MailContext,
  type MailText,
  notificationMail,
  summaryMail,
  testMail,
} from '../mail-text.ts';
import { SEND_WITHIN_MS } from '../mailer.ts';
import type { Ports } from '../ports.ts';
import {
  mailBacklogs,
  notificationOfMail,
  summedNotifications,
  takeNotifications,
} from '../store/mail-notifications.ts';
import {
  lockMailRecipient,
  type MailRecipient,
  noteMailFailed,
  noteMailSent,
  pauseMailRecipient,
  storeMailCode,
} from '../store/mail-recipients.ts';
import {
  claimRecipient,
  firstWaitingMail,
  insertMail,
  lockDueRecipient,
  type Mail,
  postponeRecipient,
  setRecipientDue,
  updateMail,
} from '../store/mails.ts';
import { endWaiting, mailCodeHash } from './mail-recipients.ts';

/** Mails that a replica sends at once, each to another recipient. */
const AT_ONCE = 4;
/** A process that holds a claim for longer counts as dead. Clocks of replicas may differ by some seconds. */
const CLAIM_MS = SEND_WITHIN_MS + 30_000;
const CLAIM_ID_BYTES = 16;
/** When a mail that could not be made is tried again. */
const UNMADE_AGAIN_MS = 60_000;

const CODE_VALID_MS = 24 * 3_600_000;
/** Crockford's base 32: 60 bits, so that nobody finds a code from its hash. */
const CODE_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CODE_CHARACTERS = 12;

type SendPorts = Pick<Ports, 'db' | 'clock' | 'random' | 'logger' | 'mailer' | 'mailed' | 'settings'>;

/** A mail that this process alone sends until the claim ends. */
export type ClaimedMail = { mail: Mail; recipient: MailRecipient; claim: string; text: MailText };

/** Sends what is due, a mail to each recipient. @returns how many were attempted */
export async function sendMails(ports: SendPorts): Promise<number> {
  const claimed: ClaimedMail[] = [];
  while (claimed.length < AT_ONCE) {
    const next = await claimMail(ports);
    if (next === 'none') break;
    if (next !== 'not_yet') claimed.push(next);
  }
  await Promise.all(claimed.map(async (mail) => recordMail(ports, mail, await attemptMail(ports, mail))));
  return claimed.length;
}

/**
 * Decides what the recipient that has waited longest is sent next, stores it, and claims it for this process. A mail that cannot
 * be made, such as one about what a newer release has stored, is put off, so that it holds up no other recipient.
 */
export async function claimMail(ports: SendPorts): Promise<ClaimedMail | 'not_yet' | 'none'> {
  const { db, clock, logger } = ports;
  const now = clock.now();
  const locked: { key?: string } = {};
  try {
    return await claimDue(ports, now, locked);
  } catch (error) {
    const { key } = locked;
    if (key === undefined) throw error;
    logger.error({ recipient_key: key, reason: reasonOf(error) }, 'a mail could not be made');
    await postponeRecipient(db, key, { now, until: new Date(now.getTime() + UNMADE_AGAIN_MS) });
    return 'not_yet';
  }
}

/** @param locked is told the key of the recipient before anything is read of it */
async function claimDue(
  ports: SendPorts,
  now: Date,
  locked: { key?: string },
): Promise<ClaimedMail | 'not_yet' | 'none'> {
  const { db, random } = ports;
  return await db.transaction(async (trx) => {
    const key = await lockDueRecipient(trx, now);
    if (key === undefined) return 'none';
    locked.key = key;
    const recipient = await lockMailRecipient(trx, key);
    invariant(recipient !== undefined, 'a locked recipient is there');
    const mail = await dueMail(trx, recipient, ports, now);
    if (mail === undefined) return 'not_yet';
    const claim = Buffer.from(random(CLAIM_ID_BYTES)).toString('hex');
    await claimRecipient(trx, key, claim, new Date(now.getTime() + CLAIM_MS));
    return { mail, recipient, claim, text: await textOf(trx, mail, recipient, ports, now) };
  });
}

/** The mail to send now. Undefined when nothing is due: then it is noted when to look again. */
async function dueMail(
  trx: Trx,
  { key }: MailRecipient,
  { random }: SendPorts,
  now: Date,
): Promise<Mail | undefined> {
  const waiting = await firstWaitingMail(trx, key);
  if (waiting !== undefined) {
    if (waiting.dueAt <= now) return waiting;
    await setRecipientDue(trx, key, waiting.dueAt);
    return undefined;
  }
  const next = nextMail(await mailBacklogs(trx, key, mailTopics, now), now);
  if (next.type === 'wait' || next.type === 'nothing') {
    await setRecipientDue(trx, key, next.type === 'wait' ? next.until : null);
    return undefined;
  }
  const { type, topic } = next;
  const mail = await insertMail(trx, { recipientKey: key, id: newMailId(now, random), type, topic }, now);
  await takeNotifications(trx, type, { recipientKey: key, topic, mailKey: mail.key });
  return mail;
}

const stopUrlOf = (publicUrl: string, token: string): string => `${publicUrl}/unsubscribe/${token}`;

async function textOf(
  trx: Trx,
  mail: Mail,
  recipient: MailRecipient,
  { random, settings: { publicUrl } }: SendPorts,
  now: Date,
): Promise<MailText> {
  const { accountId, stopToken } = recipient;
  const context: MailContext = { publicUrl, accountId, stopUrl: stopUrlOf(publicUrl, stopToken) };
  switch (mail.type) {
    case 'confirmation': {
      const expiresAt = new Date(now.getTime() + CODE_VALID_MS);
      const code = newCode(random);
      await storeMailCode(trx, recipient.key, mailCodeHash(code), expiresAt);
      return confirmationMail(code, expiresAt, context);
    }
    case 'test':
      return testMail(context);
    case 'notification': {
      const { facts, happenedAt } = await notificationOfMail(trx, mail.key);
      return notificationMail(facts, happenedAt, context);
    }
    case 'summary':
      return summaryMail(await summaryOf(trx, mail), context);
  }
}

async function summaryOf(trx: Trx, { key, topic }: Mail) {
  invariant(topic !== null, 'a summary has a topic');
  const { counts, amounts, prices } = await summedNotifications(trx, key);
  const times = counts.flatMap(({ fromTime, toTime }) => [fromTime.getTime(), toTime.getTime()]);
  return {
    topic,
    counts,
    amounts: amounts.map(({ unit: asset, ...sum }) => ({ ...sum, asset })),
    prices: prices.map(({ unit: currency, ...sum }) => ({ ...sum, currency })),
    from: new Date(Math.min(...times)),
    to: new Date(Math.max(...times)),
  };
}

function newCode(random: Ports['random']): string {
  const characters = [...random(CODE_CHARACTERS)].map((byte) => CODE_ALPHABET.charAt(byte & 31)).join('');
  return characters.toUpperCase().replace(/(.{4})(?=.)/g, '$1-');
}

/** Hands one claimed mail to the mail server. */
export async function attemptMail(
  { mailer, settings: { publicUrl } }: Pick<SendPorts, 'mailer' | 'settings'>,
  { mail, recipient, text }: ClaimedMail,
): Promise<MailResult> {
  invariant(mailer !== undefined, 'mails are sent where there is a mail server');
  return await mailer.send({
    ...text,
    messageId: `${mail.id}@${mailer.from.address.split('@')[1]}`,
    to: recipient.address,
    stopUrl: stopUrlOf(publicUrl, recipient.stopToken),
  });
}

/**
 * Records an attempt. When the process dies before it, the claim ends, and the mail is sent again with the same Message-ID:
 * SMTP can hand over a mail at least once, not exactly once.
 */
export async function recordMail(
  { db, clock, logger, mailed }: SendPorts,
  { mail, recipient: { key, id }, claim }: ClaimedMail,
  result: MailResult,
): Promise<void> {
  const now = clock.now();
  const update = mailAfter(mail.attempts, result, now);
  const isMine = await db.transaction(async (trx) => {
    const recipient = await lockMailRecipient(trx, key);
    // It was removed or unsubscribed, or this process was taken for dead.
    if (recipient?.claim !== claim) return false;
    const reason = 'reason' in result ? result.reason : null;
    await updateMail(trx, mail.key, update, { failure: reason, now });
    await setRecipientDue(trx, key, update.state === 'waiting' ? update.dueAt : now);
    if (update.state === 'sent') await noteMailSent(trx, key, now);
    if (reason !== null)
      await noteFailure(trx, recipient, { reason, isRefused: result.kind === 'refused', now });
    return true;
  });
  const fields = { mail: mail.id, recipient: id, type: mail.type, attempts: mail.attempts + 1 };
  if (!isMine) return logger.warn(fields, 'a recipient was changed while a mail was sent to it');
  if (result.kind !== 'sent') logger.info({ ...fields, ...result }, 'a mail was not sent');
  mailed?.(update.state === 'waiting' ? 'retried' : update.state);
}

async function noteFailure(
  trx: Trx,
  recipient: MailRecipient,
  { reason, isRefused, now }: { reason: string; isRefused: boolean; now: Date },
): Promise<void> {
  const refusals = recipient.refusals + (isRefused ? 1 : 0);
  await noteMailFailed(trx, recipient.key, { reason, now, refusals });
  if (refusals < REFUSALS_MAX || mailStatusOf(recipient) !== 'active') return;
  await pauseMailRecipient(
    trx,
    recipient.key,
    now,
    `The mail server refused ${REFUSALS_MAX} mails in a row.`,
  );
  await endWaiting(trx, recipient.key, now);
}
