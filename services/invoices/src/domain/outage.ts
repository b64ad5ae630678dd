/** A time in which a chain could not be seen; null: it never was before. */
export type Outage = { from: Date | null; until: Date };

/** In all its outages an invoice gains a day at most: its rate is locked for as long. */
export const EXTENDED_MAX_MS = 24 * 3_600_000;

export type ClockOfInvoice = {
  createdAt: Date;
  expiresAt: Date;
  /** How much longer it has become already. */
  extendedMs: number;
  /** Up to when outages were reckoned. */
  clockUntil: Date | null;
};

/**
 * By how many milliseconds an outage makes an invoice's life longer: its clock stood still from the outage's begin, or
 * from its own, so that its customer has as much time left after as before.
 */
export function extension(invoice: ClockOfInvoice, outage: Outage): number {
  const { createdAt, expiresAt, extendedMs, clockUntil } = invoice;
  const from = Math.max(
    createdAt.getTime(),
    ...[outage.from, clockUntil].flatMap((time) => (time === null ? [] : [time.getTime()])),
  );
  if (expiresAt.getTime() < from) return 0;
  return Math.max(0, Math.min(outage.until.getTime() - from, EXTENDED_MAX_MS - extendedMs));
}
