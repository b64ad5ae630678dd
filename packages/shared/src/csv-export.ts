import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { CsvTable } from './csv.ts';
import { type Db, query, type Selection, statement, type Trx } from './db.ts';
import { accepts, answers, send } from './http-answers.ts';
import type { AccountId } from './ids.ts';
import { type Logger, reason } from './logger.ts';
import { type FieldErrors, messages } from './validation.ts';

/** An export holds a connection to the database for as long as its client reads. */
const EXPORTS_MAX = 3;
/** Also where the client reads nothing. A transaction is open until then, and Postgres keeps for it what others replace. */
const EXPORT_MAX_MS = 10 * 60_000;
const RETRY_AFTER_SECONDS = '5';
const ROWS_AT_A_TIME = 100;
/** The first rows may come when all are sorted, and the gateway waits for 15 seconds. */
const STATEMENT_TIMEOUT = '14s';

export type CsvExport<R extends object> = {
  account: AccountId;
  /** Of the file, without `.csv`. */
  name: string;
  table: CsvTable<R>;
  /** All rows, in the order of the file. Called in the transaction that reads them. */
  select: (trx: Trx) => Selection<R> | Promise<Selection<R>>;
};

export type CsvExports = ReturnType<typeof csvExports>;

/**
 * The exports of a service. One replica runs one export of an account at a time, and three in all: otherwise it answers 503 with
 * `Retry-After`. What fails before the first rows are read is thrown. A file that breaks off later, also because it took longer
 * than ten minutes, ends without its last chunk, so that no client takes it for complete.
 */
export function csvExports(
  { db, logger }: { db: Pick<Db, 'transaction'>; logger: Pick<Logger, 'warn'> },
  limitMs = EXPORT_MAX_MS,
) {
  const exporting = new Set<AccountId>();

  return {
    /** Answers with a file; to HEAD with its headers. */
    async send<R extends object>(res: Response, file: CsvExport<R>): Promise<void> {
      const { account, name, table } = file;
      if (exporting.has(account) || exporting.size >= EXPORTS_MAX) {
        const message = 'Another export is running. Start this one when it has ended.';
        return send(res, answers.unavailableBecause(message, RETRY_AFTER_SECONDS));
      }
      exporting.add(account);
      try {
        await readAll(db, file.select, async (batches) => {
          sendCsvHead(res, name);
          if (res.req.method === 'HEAD') return;
          const limit = { end: false, signal: AbortSignal.timeout(limitMs) };
          await pipeline(Readable.from(textOf(table, batches), { highWaterMark: 1 }), res, limit);
        });
      } catch (error) {
        if (!res.headersSent) throw error;
        // The client sees that the file is cut off: its last chunk is missing.
        logger.warn({ account, file: name, reason: reason(error) }, 'an export broke off');
        res.destroy();
      } finally {
        exporting.delete(account);
      }
      // Only now: a client that has the end of one may begin another.
      res.end();
    },
  };
}

/**
 * Reads all rows as they are at one moment, through a cursor: Postgres sorts them on its disk, and the service holds a hundred
 * at a time. The first are read before `use` is called.
 */
function readAll<R extends object>(
  db: Pick<Db, 'transaction'>,
  select: CsvExport<R>['select'],
  use: (batches: AsyncIterable<R[]>) => Promise<void>,
): Promise<void> {
  const fetch = query<R>('', `fetch ${ROWS_AT_A_TIME} from exported`);
  return db.transaction(async (trx) => {
    await trx.rows('set transaction isolation level repeatable read read only');
    await trx.rows(`set local statement_timeout = '${STATEMENT_TIMEOUT}'`);
    // A client that reads slowly is not an idle one: the limit of an export ends it.
    await trx.rows(`set local idle_in_transaction_session_timeout = ${EXPORT_MAX_MS}`);
    const { rows, values } = await select(trx);
    await trx.rows(statement('', `declare exported no scroll cursor for ${rows.text}`), values);
    const first = await trx.rows(fetch);
    async function* batches() {
      for (let batch = first; batch.length > 0; batch = await trx.rows(fetch)) yield batch;
    }
    await use(batches());
  });
}

async function* textOf<R>({ head, line }: CsvTable<R>, batches: AsyncIterable<R[]>) {
  yield head;
  for await (const batch of batches) yield batch.map(line).join('');
}

/** Whether a client asks for CSV. A format that is named counts more than what the client accepts. */
export const wantsCsv = (
  { headers: { accept } }: Pick<Request, 'headers'>,
  format: string | null,
): boolean =>
  format === null ? accepts(accept, 'text/csv') && !accepts(accept, 'application/json') : format === 'csv';

/** The errors of parameters that choose a part of a list, where a file of all rows is asked for. */
export function partErrors(given: Readonly<Record<string, unknown>>, names: readonly string[]): FieldErrors {
  const hint = 'A CSV file has all rows: leave it out, and narrow the file by its filters.';
  const isGiven = (value: unknown) => (typeof value === 'string' ? value.trim() !== '' : value != null);
  return Object.fromEntries(
    names.filter((name) => isGiven(given[name])).map((name) => [name, [messages.invalid(name, hint)]]),
  );
}

/** The headers of a file. */
export function sendCsvHead(res: Response, name: string): void {
  res.setHeader('Content-Type', 'text/csv; charset=utf-8');
  res.setHeader('Content-Disposition', `attachment; filename="${name}.csv"`);
}
