/** A time in which a chain was not synced. `from` is null when it was never synced before. */
export type Outage = { from: Date | null; until: Date };

/** What is stored about a chain when it is synced again. */
export type SyncState = {
  /** When the chain was synced before; null: never. */
  syncedAt: Date | null;
  /** The time of the newest block at that sync. */
  knownUntil: Date;
  /** The time of the first block after that one; null: none yet. */
  nextBlockAt: Date | null;
};

export type OutageLimits = {
  /** Not being synced for longer than this is an outage: the expiry of the chain's invoices is extended. */
  outageMs: number;
  /** A block that arrives this long after its time is late: a node that lags kept it back. Undefined where blocks are made by hand. */
  lateMs?: number | undefined;
  /** A public chain makes a block more often than this. Undefined where blocks are made by hand. */
  gapMs?: number | undefined;
};

/**
 * The outage that ends with a sync at `seenAt`; undefined without one. After a node that hung or refused, it begins
 * at the last sync. A node that lagged showed an old head: the outage begins with the first block that it kept back,
 * or with its last block when the next one came much later.
 */
export function outageEnding(sight: SyncState, seenAt: Date, limits: OutageLimits): Outage | undefined {
  const { syncedAt, knownUntil, nextBlockAt } = sight;
  if (syncedAt === null) return { from: null, until: seenAt };
  const { outageMs, lateMs = Number.POSITIVE_INFINITY, gapMs = Number.POSITIVE_INFINITY } = limits;
  const unseen: number[] = [];
  if (seenAt.getTime() - syncedAt.getTime() > outageMs) unseen.push(syncedAt.getTime());
  if (nextBlockAt !== null) {
    const hasGap = nextBlockAt.getTime() - knownUntil.getTime() > gapMs;
    const missedAt = hasGap ? knownUntil : nextBlockAt;
    if (seenAt.getTime() - missedAt.getTime() > lateMs) unseen.push(missedAt.getTime());
  }
  return unseen.length === 0 ? undefined : { from: new Date(Math.min(...unseen)), until: seenAt };
}

/** All outages together extend an invoice by a day at most: its rate is locked for that long. */
export const EXTENDED_MAX_MS = 24 * 3_600_000;

export type ExtendableInvoice = {
  createdAt: Date;
  expiresAt: Date;
  /** By how much it was extended already. */
  extendedMs: number;
  /** Up to when outages are counted already. */
  extendedUntil: Date | null;
};

/**
 * By how many milliseconds an outage extends an invoice: by its length, or by the part after the invoice was created,
 * so that the customer has as much time left as before.
 */
export function extensionMs(invoice: ExtendableInvoice, outage: Outage): number {
  const { createdAt, expiresAt, extendedMs, extendedUntil } = invoice;
  const from = Math.max(
    createdAt.getTime(),
    ...[outage.from, extendedUntil].flatMap((time) => (time === null ? [] : [time.getTime()])),
  );
  if (expiresAt.getTime() < from) return 0;
  return Math.max(0, Math.min(outage.until.getTime() - from, EXTENDED_MAX_MS - extendedMs));
}
