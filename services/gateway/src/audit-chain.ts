import { hash } from 'node:crypto';

/** An entry of the audit log, as it is stored and as it is exported. */
export type AuditEntry = {
  /** One higher for each entry, from 1 on. */
  position: bigint;
  /** UTC, in microseconds: `2026-11-26T03:04:05.123456Z`. */
  at: string;
  actor: string;
  /** The address of the client, or the computer of the command line; null where it was not known. */
  source: string | null;
  /** The database role that wrote it. */
  writtenBy: string | null;
  action: string;
  accountId: string | null;
  tokenId: string | null;
  /** What it was done to, where that is neither an account nor a token. */
  subject: string | null;
  detail: string | null;
  /** SHA-256 in hexadecimal digits. */
  hash: string;
};

/** An entry that was noted elsewhere: all before it is as it was then if the chain still has it. */
export type ChainHead = { position: bigint; hash: string };

export const emptyChain: ChainHead = { position: 0n, hash: '' };

/** As Postgres writes an array: its elements as JSON writes them, with a comma and a space between. */
const jsonArray = (values: readonly (string | null)[]): string =>
  `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;

/** The hash of an entry behind another: SHA-256 of that one's hash and its own values, as `audit_hash` computes it. */
export function entryHash(previous: string, entry: Omit<AuditEntry, 'hash'>): string {
  const { position, at, actor, source, writtenBy, action, accountId, tokenId, subject, detail } = entry;
  const who = [position.toString(), at, actor, source, writtenBy];
  const text = jsonArray([...who, action, accountId, tokenId, subject, detail]);
  return hash('sha256', Buffer.concat([Buffer.from(previous, 'hex'), Buffer.from(text)]), 'hex');
}

/** The first entry that does not continue the chain; or where the chain ends with these. */
export type Continued = { head: ChainHead } | { broken: bigint };

/** Whether these entries follow each other without a gap, each with the right hash. */
export function continueChain(head: ChainHead, entries: readonly AuditEntry[]): Continued {
  let last = head;
  for (const entry of entries) {
    const isNext = entry.position === last.position + 1n && entry.hash === entryHash(last.hash, entry);
    if (!isNext) return { broken: last.position + 1n };
    last = { position: entry.position, hash: entry.hash };
  }
  return { head: last };
}
