import { randomBytes, randomFillSync } from 'node:crypto';
import { type Clock, systemClock } from './clock.ts';

declare const brand: unique symbol;
/** A type of its own for each kind of id or amount, so that two cannot be swapped. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type AccountId = Brand<string, 'AccountId'>;
export type TokenId = Brand<string, 'TokenId'>;
/** Of somebody who signs in. */
export type PersonId = Brand<string, 'PersonId'>;
/** Who acts for an account: a program with an API token, or a person who has signed in. */
export type ActorId = TokenId | PersonId;
export type SessionId = Brand<string, 'SessionId'>;
export type PasskeyId = Brand<string, 'PasskeyId'>;
/** Of an invitation of a person. */
export type InvitationId = Brand<string, 'InvitationId'>;
export type InvoiceId = Brand<string, 'InvoiceId'>;
export type PaymentLinkId = Brand<string, 'PaymentLinkId'>;
export type RefundId = Brand<string, 'RefundId'>;
export type DepositId = Brand<string, 'DepositId'>;
export type EndpointId = Brand<string, 'EndpointId'>;
/** Of an e-mail address that is told of events. */
export type MailRecipientId = Brand<string, 'MailRecipientId'>;
/** Of one mail, at each attempt. */
export type MailId = Brand<string, 'MailId'>;
/** Of an entry of an address book. */
export type PayoutAddressId = Brand<string, 'PayoutAddressId'>;
/** Of payouts that were requested together. */
export type BatchId = Brand<string, 'BatchId'>;
export type EventId = Brand<string, 'EventId'>;
/** Of what the gateway asserts about one request. */
export type AssertionId = Brand<string, 'AssertionId'>;
/** An integer below 2^53 on the wire; a string inside, as Postgres hands bigint out. */
export type PayoutId = Brand<string, 'PayoutId'>;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeLength = 10;
const randomLength = 26;

/**
 * 10 characters of time (48 bits of milliseconds), then 26 of chance (130 bits), in Crockford's base 32.
 * Ordered by time, so that an index grows at its end; not to be guessed, so that it may stand in a URL.
 */
function timeOrdered(prefix: string, now: Date, random: (size: number) => Uint8Array): string {
  let time = now.getTime();
  let head = '';
  for (let i = 0; i < timeLength; i++) {
    head = alphabet.charAt(time % 32) + head;
    time = Math.floor(time / 32);
  }
  let tail = '';
  for (const byte of random(randomLength)) tail += alphabet.charAt(byte & 31);
  return `${prefix}_${head}${tail}`;
}

/** The form of the ids that begin with this prefix. Any other text names nothing. */
export const idForm = (prefix: string): RegExp =>
  new RegExp(`^${prefix}_[0-9a-z]{${timeLength + randomLength}}$`);

export type Random = (size: number) => Uint8Array;

/**
 * A random integer between 1 and 2^48, exact in JSON. Random, so that it tells nothing of how many payouts there are.
 * Two can be equal: the caller draws again when the database has the id.
 */
export const newPayoutId = (random: Random): PayoutId =>
  (Buffer.from(random(6)).readUIntBE(0, 6) + 1).toString() as PayoutId;

const pool = new Uint8Array(8_192);
let used = pool.length;

/** Chance of the same quality as randomBytes, fetched for many ids at once: one call costs as much as an id. */
export function pooledBytes(size: number): Uint8Array {
  if (size > pool.length) return randomBytes(size);
  if (used + size > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += size;
  return pool.slice(used - size, used);
}

/** Where ids come from whose maker says nothing of time and chance. */
let source: { clock: Clock; random: Random } = { clock: systemClock, random: pooledBytes };

/** For the simulation: from now on ids follow from its seed, and may be guessed. */
export function drawIdsFrom(given: { clock: Clock; random: Random }): void {
  source = given;
}

const make =
  <Id extends string>(prefix: string) =>
  (now: Date = source.clock.now(), random: Random = source.random): Id =>
    timeOrdered(prefix, now, random) as Id;

export const newAccountId = make<AccountId>('acc');
export const newTokenId = make<TokenId>('tok');
export const newPersonId = make<PersonId>('per');
export const newSessionId = make<SessionId>('ses');
export const newPasskeyId = make<PasskeyId>('pky');
export const newInvitationId = make<InvitationId>('ivt');
export const newInvoiceId = make<InvoiceId>('inv');
export const newPaymentLinkId = make<PaymentLinkId>('plink');
export const newRefundId = make<RefundId>('ref');
export const newDepositId = make<DepositId>('dep');
export const newEndpointId = make<EndpointId>('whe');
export const newMailRecipientId = make<MailRecipientId>('mrc');
export const newMailId = make<MailId>('mail');
export const newEventId = make<EventId>('evt');
/** Before every event id that is made from that time on. */
export const firstEventIdAt = (time: Date): EventId =>
  timeOrdered('evt', time, (size) => new Uint8Array(size)) as EventId;
export const newPayoutAddressId = make<PayoutAddressId>('adr');
export const newBatchId = make<BatchId>('pba');
export const newAssertionId = make<AssertionId>('asr');
export const newRequestId = make<string>('req');
