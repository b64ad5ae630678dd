import type { Db, Trx } from '@quittance/shared/db';

/** Asks the database about one moment, and changes nothing. */
export type Snapshot = <T>(work: (trx: Trx) => Promise<T>) => Promise<T>;

export const snapshotOf =
  (db: Pick<Db, 'transaction'>, maxMs: number): Snapshot =>
  (work) =>
    db.transaction(async (trx) => {
      await trx.rows('set transaction isolation level repeatable read, read only');
      await trx.rows(`set local statement_timeout = ${maxMs}`);
      // To compile a question takes longer than most of them.
      await trx.rows('set local jit = off');
      return await work(trx);
    });
