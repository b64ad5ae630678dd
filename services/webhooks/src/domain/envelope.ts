import type { EventId } from '@quittance/shared/ids';

/** An event as its account's log holds it. `data` is JSON text, sent as it was stored. */
export type LoggedEvent = {
  id: EventId;
  kind: string;
  createdAt: Date;
  /** An integer, as Postgres hands bigint out. */
  sequence: string;
  /** How often its invoice or payout had changed; an integer too. */
  version: string;
  data: string;
};

/** What a merchant is sent, to the byte: the signature is over this text, and each attempt sends the same. */
export function envelopeOf({ id, kind, createdAt, sequence, version, data }: LoggedEvent): string {
  return `{"id":"${id}","event":"${kind}","created_at":"${createdAt.toISOString()}","sequence":${sequence},"version":${version},"data":${data}}`;
}

/*
 * What a stream of server-sent events is made of (WHATWG HTML, 9.2). An id alone is no event, and is remembered all the
 * same: whoever is cut off before anything happened comes back to where the stream began.
 */

const RETRY_MS = 3_000;

/** The first words: how soon to come back when cut off, and where the stream begins. */
export const openingFrame = (after: string): string => `retry: ${RETRY_MS}\nid: ${after}\n\n`;

/** One event, named by its place in the sequence and its kind. */
export function eventFrame(event: LoggedEvent): string {
  // Stored JSON may have line ends between its parts; each line of the data has to say that it is data.
  const data = envelopeOf(event).replace(/\r\n|\r|\n/g, '\ndata: ');
  return `id: ${event.sequence}\nevent: ${event.kind}\ndata: ${data}\n\n`;
}

/** What the client has not had is kept no longer: it has missed what lies before the oldest that still is. */
export const gapFrame = (after: string, firstSequence: string): string =>
  `id: ${BigInt(firstSequence) - 1n}\nevent: gap\ndata: {"after":${after},"first_sequence":${firstSequence}}\n\n`;

/** A sign of life, and how far the log was seen where nothing in it was asked for. */
export const beatFrame = (seenUntil: string | undefined): string =>
  seenUntil === undefined ? ':\n\n' : `:\nid: ${seenUntil}\n\n`;

/** The later of two places in an account's log; sequences are numbers of any size, as text. */
export const later = (a: string, b: string): string => (BigInt(a) > BigInt(b) ? a : b);
