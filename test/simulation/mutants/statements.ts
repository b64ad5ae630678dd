import type { Db, Queryable, Statement, Trx } from '@quittance/shared/db';
import type { ExportedFile, Wiring } from '../mutant.ts';
import { queryable } from '../ports.ts';

type Row = Record<string, unknown>;
/** Does the statement as it was to be done, or with other values. */
export type Go = (values?: readonly unknown[]) => Promise<Row[]>;
/** A named statement of production code on its way to the database. */
export type Call = { sql: Statement; values: readonly unknown[] };
export type Hook = (call: Call, go: Go) => Promise<Row[]>;

/** What asks a database through this asks `hook` first, about every named statement. */
export function hooked(on: Queryable, hook: Hook): Queryable {
  async function rows(sql: Statement | string, values: readonly unknown[] = []): Promise<Row[]> {
    if (typeof sql === 'string') return await on.rows(sql, values);
    return await hook({ sql, values }, (given = values) => on.rows(sql, given));
  }
  return queryable(rows);
}

/** The same within transactions. */
export const hookedDb = (db: Db, hook: Hook): Db => ({
  ...hooked(db, hook),
  transaction: (work) => db.transaction((trx) => work(hooked(trx, hook) as Trx)),
  close: () => db.close(),
});

/**
 * Mutants whose words are no longer in production's statements. What they break is no find: production code may take
 * what is thrown here for trouble that passes.
 */
export const notApplied = new Set<string>();

type Change = readonly [from: string | RegExp, to: string];

/** Changes words of a named statement. */
export function rewrite(wiring: Wiring, name: string, ...changes: readonly Change[]): void {
  wiring.sql.set(name, (text) => changed(name, text, changes));
}

/** Changes words of the statement that reads a file. */
export function rewriteFile(wiring: Wiring, file: ExportedFile, ...changes: readonly Change[]): void {
  wiring.files.set(file, (text) => changed(file, text, changes));
}

const changed = (name: string, text: string, changes: readonly Change[]): string =>
  changes.reduce((before, [from, to]) => {
    const after = before.replaceAll(typeof from === 'string' ? from : new RegExp(from, 'g'), () => to);
    if (after === before) {
      notApplied.add(`the statement ${name} does not say ${String(from)} any more`);
      throw new Error([...notApplied].join());
    }
    return after;
  }, text);

/** What a transaction does by the statement of this name is done when it is committed, outside of it. */
export const afterCommit =
  (name: string) =>
  (db: Db): Db => ({
    ...db,
    async transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
      const late: Call[] = [];
      const result = await db.transaction((trx) =>
        work(
          hooked(trx, async (call, go) => {
            if (call.sql.name !== name) return await go();
            late.push(call);
            return [];
          }) as Trx,
        ),
      );
      for (const { sql, values } of late) await db.rows(sql, values);
      return result;
    },
  });
