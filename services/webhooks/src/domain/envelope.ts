import type { EventId } from '@quittance/shared/ids';

/** An event in its account's log. `data` is JSON text, which is sent unchanged. */
export type LoggedEvent = {
  id: EventId;
  kind: string;
  createdAt: Date;
  /** An integer. The driver returns bigint as text. */
  sequence: string;
  /** How often its invoice or payout had changed. An integer too. */
  version: string;
  data: string;
};

/** The exact body of a webhook. The signature covers it, and every attempt sends the same bytes. */
export function envelopeOf({ id, kind, createdAt, sequence, version, data }: LoggedEvent): string {
  return `{"id":"${id}","event":"${kind}","created_at":"${createdAt.toISOString()}","sequence":${sequence},"version":${version},"data":${data}}`;
}

/*
 * The frames of a stream of server-sent events (WHATWG HTML, 9.2). A client also remembers an id without an event: one
 * that is disconnected before the first event reconnects where the stream began.
 */

const RETRY_MS = 3_000;

/** The first frame: when to reconnect, and where the stream begins. */
export const openingFrame = (after: string): string => `retry: ${RETRY_MS}\nid: ${after}\n\n`;

/** One event. Its sequence number is the id, its event type the name. */
export function eventFrame(event: LoggedEvent): string {
  // Stored JSON may contain line breaks. Each line of the frame needs the prefix.
  const data = envelopeOf(event).replace(/\r\n|\r|\n/g, '\ndata: ');
  return `id: ${event.sequence}\nevent: ${event.kind}\ndata: ${data}\n\n`;
}

/** The client has missed events that were pruned: those before `firstSequence`. */
export const gapFrame = (after: string, firstSequence: string): string =>
  `id: ${BigInt(firstSequence) - 1n}\nevent: gap\ndata: {"after":${after},"first_sequence":${firstSequence}}\n\n`;

/** A heartbeat, with the sequence number up to which no event matched. */
export const beatFrame = (seenUntil: string | undefined): string =>
  seenUntil === undefined ? ':\n\n' : `:\nid: ${seenUntil}\n\n`;

/** The larger of two sequence numbers, which are text of any length. */
export const later = (a: string, b: string): string => (BigInt(a) > BigInt(b) ? a : b);
