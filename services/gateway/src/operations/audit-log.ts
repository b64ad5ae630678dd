import type { Queryable } from '@quittance/shared/db';
import { Unavailable } from '@quittance/shared/http';
import { reason } from '@quittance/shared/logger';
import { type AuditEntry, type ChainHead, continueChain, emptyChain } from '../audit-chain.ts';
import { storedPath } from '../domain/stored-path.ts';
import type { Ports } from '../ports.ts';
import {
  type Author,
  entriesAfter,
  insertRequestedChange,
  lastEntries,
  unchainedEntries,
} from '../store/audit-log.ts';
import type { Caller } from './caller.ts';

export type { AuditEntry, ChainHead };

/** So many entries are in memory at a time. */
const BATCH = 1_000;

export type VerifiedLog = {
  /** The last entry; position 0 when there is none. */
  head: ChainHead;
  problem?:
    | { kind: 'broken'; position: bigint }
    | { kind: 'unchained'; count: number }
    /** It has not the entry that was noted, or another one in its place. */
    | { kind: 'head_missing' };
};

/** All entries, oldest first, a batch at a time. */
export async function* auditEntries(db: Queryable): AsyncGenerator<AuditEntry[]> {
  let position = 0n;
  for (;;) {
    const entries = await entriesAfter(db, position, BATCH);
    const last = entries.at(-1);
    if (last === undefined) return;
    yield entries;
    position = last.position;
  }
}

/** The last entries, oldest first. */
export const latestAuditEntries = (db: Queryable, limit: number): Promise<AuditEntry[]> =>
  lastEntries(db, limit);

/**
 * Computes the hash of every entry again. With a head that was noted before, it also finds a log that was replaced as a
 * whole, or whose last entries were taken away.
 */
export async function verifyAuditLog(db: Queryable, noted?: ChainHead): Promise<VerifiedLog> {
  let head = emptyChain;
  let isNotedThere = noted === undefined || noted.position === 0n;
  for await (const entries of auditEntries(db)) {
    const continued = continueChain(head, entries);
    if ('broken' in continued) return { head, problem: { kind: 'broken', position: continued.broken } };
    head = continued.head;
    isNotedThere ||= entries.some(
      ({ position, hash }) => position === noted?.position && hash === noted.hash,
    );
  }
  const count = await unchainedEntries(db);
  if (count > 0) return { head, problem: { kind: 'unchained', count } };
  return isNotedThere ? { head } : { head, problem: { kind: 'head_missing' } };
}

/** Who asks, and from which address; undefined when its client has gone. */
export type Asker = { caller: Caller; client: string | undefined };

export const authorOf = ({ caller, client }: Asker): Author => ({
  actor: caller.tokenId === undefined ? `person ${caller.session.person}` : `token ${caller.tokenId}`,
  source: client,
});

/** The same for somebody who acts as an operator: accounts see that it was the operator, also when that person no longer is one. */
export const operatorOf = (asker: Asker): Author => ({
  actor: authorOf(asker).actor.replace('person', 'operator'),
  source: asker.client,
});

/**
 * Writes down a change before a service is asked for it: one that is carried out and written nowhere would be worse than one
 * that is written and refused. Throws Unavailable when it cannot be written.
 */
export async function noteRequestedChange(
  { db }: Pick<Ports, 'db'>,
  asker: Asker,
  { method, path, requestId }: { method: string; path: string; requestId: string },
): Promise<void> {
  const { account, tokenId = null } = asker.caller;
  const what = `${method} ${storedPath(path)}`;
  await insertRequestedChange(db, authorOf(asker), { account, tokenId, what, requestId }).catch(
    (error: unknown) => {
      throw new Unavailable(`the audit log cannot be written: ${reason(error)}`);
    },
  );
}
