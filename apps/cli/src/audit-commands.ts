import {
  type AuditEntry,
  auditEntries,
  type ChainHead,
  latestAuditEntries,
  type VerifiedLog,
  verifyAuditLog,
} from '@quittance/gateway/operations/audit-log';
import { withOperator } from './operator-database.ts';
import type { Outcome, SaidOutcome } from './outcome.ts';
import { type Said, say } from './output.ts';
import type { Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

const headText = ({ position, hash }: ChainHead): string => `${position}:${hash}`;

const entryJson = ({ writtenBy, accountId, tokenId, ...entry }: AuditEntry) => ({
  position: entry.position.toString(),
  at: entry.at,
  actor: entry.actor,
  source: entry.source,
  written_by: writtenBy,
  action: entry.action,
  account_id: accountId,
  token_id: tokenId,
  subject: entry.subject,
  detail: entry.detail,
  hash: entry.hash,
});

/** The last entries, oldest first. */
export const auditList = (around: Surroundings, limit: number): Promise<SaidOutcome> =>
  withOperator(around, 'gateway', async (db) => {
    const entries = await latestAuditEntries(db, limit);
    const onWhat = ({ tokenId, accountId, subject }: AuditEntry) => subject ?? tokenId ?? accountId ?? '';
    return {
      json: entries.map(entryJson),
      text: table(
        ['TIME', 'WHO', 'FROM', 'ACTION', 'ON', 'DETAIL'],
        entries.map((entry) => [
          minute(new Date(entry.at)),
          entry.actor,
          entry.source ?? '',
          entry.action,
          onWhat(entry),
          entry.detail ?? '',
        ]),
      ),
    };
  });

/** Every entry, oldest first: a JSON object in each line. */
export const auditExport = (around: Surroundings): Promise<Outcome> =>
  withOperator(around, 'gateway', async (db) => {
    const all: ReturnType<typeof entryJson>[] = [];
    for await (const entries of auditEntries(db)) all.push(...entries.map(entryJson));
    return { json: all, text: all.map((entry) => `${JSON.stringify(entry)}\n`).join('') };
  });

/** Whether no entry was changed, left out or added in between. */
export const auditVerify = (around: Surroundings, noted: ChainHead | undefined): Promise<SaidOutcome> =>
  withOperator(around, 'gateway', async (db) => {
    const verified = await verifyAuditLog(db, noted);
    const { head, problem } = verified;
    return {
      bad: problem !== undefined,
      json: { entries: head.position.toString(), head: headText(head), problem: problem?.kind ?? null },
      text: said(verified, noted),
    };
  });

function said({ head, problem }: VerifiedLog, noted: ChainHead | undefined): Said {
  switch (problem?.kind) {
    case 'broken':
      return say`Entry ${problem.position.toString()} of the audit log was changed, or one before it is missing: the hashes are right up to ${headText(head)}.\n`;
    case 'unchained':
      return say`${problem.count} entries of the audit log have no place in its chain: somebody has switched the trigger of the table off.\n`;
    case 'head_missing':
      return say`The hashes follow each other, but the log has not the entry ${noted === undefined ? '' : headText(noted)}: it was replaced, or its end was taken away. Compare it with an export.\n`;
    case undefined:
      return say`${head.position.toString()} entries, each with the right hash. Note the head outside of this database, for the next time:\n  npx quittance audit verify --head ${headText(head)}\n`;
  }
}
