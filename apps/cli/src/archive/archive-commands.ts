import { resolve } from 'node:path';
import { failpoint } from '@quittance/shared/failpoint';
import type pg from 'pg';
import { withConnection } from '../backup/record-tables.ts';
import { adminDatabase } from '../database-settings.ts';
import { actor, source } from '../operator-database.ts';
import type { SaidOutcome } from '../outcome.ts';
import { say } from '../output.ts';
import { CommandError, type Surroundings } from '../surroundings.ts';
import { table } from '../table.ts';
import { writeMonth } from './month-file.ts';
import { type PrunedMonth, prunedMonths, removeMonth } from './pruned-months.ts';
import { archivesAlone, keepBackupsOut } from './removal-lock.ts';

const PROGRAM = 'quittance-archive';

/** From now on, what is pruned of webhooks' events is kept until it is archived. */
export async function startArchiving(around: Surroundings): Promise<SaidOutcome> {
  const started = await change(around, 'archive.started', 'events', async (client) => {
    const { rowCount } = await client.query(
      'insert into webhooks.archiving default values on conflict do nothing',
    );
    return rowCount === 1;
  });
  return {
    json: { archiving: true, was: !started },
    text: started
      ? say`From now on, events that are pruned wait in the database until \`quittance archive write\` has written them.\n`
      : say`Events that are pruned wait already until \`quittance archive write\` has written them.\n`,
  };
}

/** From now on, what is pruned is deleted. What waits stays. */
export async function stopArchiving(around: Surroundings): Promise<SaidOutcome> {
  const stopped = await change(around, 'archive.stopped', 'events', async (client) => {
    const { rowCount } = await client.query('delete from webhooks.archiving');
    return rowCount === 1;
  });
  return {
    json: { archiving: false, was: stopped },
    text: stopped
      ? say`From now on, events that are pruned are deleted. What waits to be archived stays.\n`
      : say`Events that are pruned are deleted already.\n`,
  };
}

export type WriteOrder = { to?: string; withoutFile?: boolean; before?: string };

type Done = { month: string; events: number; file: string | null; waits: string | null };

/** Writes each month of which all events are pruned into a file, reads it again, and removes it from the database. */
export async function writeArchive(
  around: Surroundings,
  { to, withoutFile = false, before }: WriteOrder,
): Promise<SaidOutcome> {
  if ((to === undefined) !== withoutFile)
    throw new CommandError(
      'Either --to FOLDER, or --without-file, which deletes what waits without a copy of it.',
    );
  const folder = to === undefined ? null : resolve(around.cwd, to);
  const done: Done[] = [];
  await onDatabase(around, async (client) => {
    if (!(await archivesAlone(client)))
      throw new CommandError('Another `quittance archive write` is running.');
    for (const found of await prunedMonths(client)) {
      if (before !== undefined && found.month >= before) continue;
      done.push(await archiveMonth(around, client, found, folder));
    }
  });
  const rows = done.map(({ month, events, file, waits }) => [
    month,
    String(events),
    waits ?? file ?? 'deleted without a file',
  ]);
  return {
    json: { months: done },
    text:
      done.length === 0 ? say`No month waits to be archived.\n` : table(['MONTH', 'EVENTS', 'FILE'], rows),
  };
}

async function archiveMonth(
  around: Surroundings,
  client: pg.Client,
  { month, events, inLog, toDeliver }: PrunedMonth,
  folder: string | null,
): Promise<Done> {
  if (inLog > 0)
    return {
      month,
      events,
      file: null,
      waits: `not yet: ${inLog} more are in the log, ${toDeliver} of them still to be delivered`,
    };
  const written = folder === null ? null : await writeMonth(client, folder, month);
  const removed = written?.lines ?? events;
  const subject = `${month}, ${removed} events, ${written === null ? 'without a file' : `sha256 ${written.sha256}`}`;
  await inTransaction(client, async () => {
    await keepBackupsOut(client);
    await removeMonth(client, month, removed);
    await note(client, around, 'archive.written', subject);
    failpoint('archive.removed');
  });
  return { month, events: removed, file: written?.file ?? null, waits: null };
}

const onDatabase = <T>(around: Surroundings, work: (client: pg.Client) => Promise<T>): Promise<T> =>
  withConnection(adminDatabase(around), work, PROGRAM);

/** Changes a setting, with a line in the audit log when it was another one before. */
const change = (
  around: Surroundings,
  action: string,
  subject: string,
  work: (client: pg.Client) => Promise<boolean>,
): Promise<boolean> =>
  onDatabase(around, (client) =>
    inTransaction(client, async () => {
      const isChanged = await work(client);
      if (isChanged) await note(client, around, action, subject);
      return isChanged;
    }),
  );

/** An error ends the connection, and so the transaction. */
async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  const result = await work();
  await client.query('commit');
  return result;
}

async function note(client: pg.Client, around: Surroundings, action: string, subject: string): Promise<void> {
  await client.query(`select set_config('quittance.source', $1, true)`, [source()]);
  await client.query('select operator.write_audit_log($1, $2, $3)', [actor(around), action, subject]);
}
