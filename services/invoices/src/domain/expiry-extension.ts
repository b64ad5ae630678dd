/** A time in which a chain could not be seen; null: it never was before. */
export type Outage = { from: Date | null; until: Date };

/** What is known of a chain when its head is reached once more. */
export type SyncState = {
  /** When the head was reached before; null: never. */
  reachedAt: Date | null;
  /** The time of the newest block then. */
  knownUntil: Date;
  /** The time of the first block after that one; null: there is none yet. */
  nextBlockAt: Date | null;
};

export type OutageLimits = {
  /** A head that is not reached for longer is an outage. */
  outageMs: number;
  /** A block that is seen so long after its time came late; undefined where blocks are made by hand. */
  lateMs?: number | undefined;
  /** A public chain makes a block more often than this; undefined where blocks are made by hand. */
  gapMs?: number | undefined;
};

/**
 * The outage that ends when the head is reached at `seenAt`; undefined when the chain was seen all the time. After a
 * node that hung or refused it begins when the head was reached before. One that lagged showed an old head meanwhile: the outage
 * begins with the first block that it kept back, or with the last one it showed when the chain seems to have made none
 * for too long.
 */
export function outageEnding(sight: SyncState, seenAt: Date, limits: OutageLimits): Outage | undefined {
  const { reachedAt, knownUntil, nextBlockAt } = sight;
  if (reachedAt === null) return { from: null, until: seenAt };
  const { outageMs, lateMs = Number.POSITIVE_INFINITY, gapMs = Number.POSITIVE_INFINITY } = limits;
  const unseen: number[] = [];
  if (seenAt.getTime() - reachedAt.getTime() > outageMs) unseen.push(reachedAt.getTime());
  if (nextBlockAt !== null) {
    const hasGap = nextBlockAt.getTime() - knownUntil.getTime() > gapMs;
    const missedAt = hasGap ? knownUntil : nextBlockAt;
    if (seenAt.getTime() - missedAt.getTime() > lateMs) unseen.push(missedAt.getTime());
  }
  return unseen.length === 0 ? undefined : { from: new Date(Math.min(...unseen)), until: seenAt };
}

/** In all its outages an invoice gains a day at most: its rate is locked for as long. */
export const EXTENDED_MAX_MS = 24 * 3_600_000;

export type ExtendableInvoice = {
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
export function extensionMs(invoice: ExtendableInvoice, outage: Outage): number {
  const { createdAt, expiresAt, extendedMs, clockUntil } = invoice;
  const from = Math.max(
    createdAt.getTime(),
    ...[outage.from, clockUntil].flatMap((time) => (time === null ? [] : [time.getTime()])),
  );
  if (expiresAt.getTime() < from) return 0;
  return Math.max(0, Math.min(outage.until.getTime() - from, EXTENDED_MAX_MS - extendedMs));
}
