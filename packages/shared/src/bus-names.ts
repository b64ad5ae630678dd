import type { Service } from './events.ts';

/** The one stream; every event travels in it. */
export const STREAM = 'EVT';

/**
 * Values that are published again and again and of which only the newest counts: a key-value bucket of NATS each, with a key
 * per asset. The service that writes a bucket does not read it: see docs/decisions/0014.
 */
export const buckets = {
  quotes: { writtenBy: 'ledger', readBy: ['invoices', 'payouts'] },
  fee_estimates: { writtenBy: 'payouts', readBy: ['ledger'] },
} as const satisfies Record<string, { writtenBy: Service; readBy: readonly Service[] }>;

export type BucketName = keyof typeof buckets;
export const bucketNames = Object.keys(buckets) as BucketName[];

/** The stream in which NATS keeps a bucket. */
export const bucketStream = (bucket: BucketName): string => `KV_${bucket}`;

/** Who makes stream, durables and buckets, and may do nothing else. */
export const KEEPER = 'keeper';
export type BusUser = Service | typeof KEEPER;

/** Where a user hears answers, and nobody else does. */
export const inboxPrefix = (user: string): string => `_INBOX.${user}`;
