import type { Db } from '@quittance/shared/db';
import { Unavailable } from '@quittance/shared/http';
import { reason } from '@quittance/shared/logger';
import { type Caller, callersByHash } from './store.ts';

/** Reads whose token a hash is of; Unavailable when the database cannot say. */
export type Callers = { byHash(hash: Buffer): Promise<Caller | undefined> };

const BATCH_MAX = 200;
/** With one batch on its way and one more, a request waits for at most one that it is not in. */
const BATCHES_AT_ONCE = 2;

type Waiting = {
  hash: Buffer;
  resolve: (caller: Caller | undefined) => void;
  reject: (error: unknown) => void;
};

/**
 * Reads tokens from the database, under load many in one statement: what arrives while a batch is on its way
 * goes along with the next. It is no cache: every answer was read after its request came.
 */
export function openCallers(db: Db): Callers {
  const waiting: Waiting[] = [];
  let underWay = 0;

  async function readBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const found = await callersByHash(
        db,
        batch.map(({ hash }) => hash),
      );
      const byHash = new Map(found.map((row) => [row.hash.toString('latin1'), row]));
      for (const { hash, resolve } of batch) resolve(byHash.get(hash.toString('latin1')));
    } catch (error) {
      const failure = new Unavailable(`tokens cannot be read: ${reason(error)}`);
      for (const { reject } of batch) reject(failure);
    }
  }

  function readMore(): void {
    while (waiting.length > 0 && underWay < BATCHES_AT_ONCE) {
      underWay += 1;
      void readBatch(waiting.splice(0, BATCH_MAX)).then(() => {
        underWay -= 1;
        readMore();
      });
    }
  }

  return {
    byHash: (hash) =>
      new Promise((resolve, reject) => {
        waiting.push({ hash, resolve, reject });
        // At the end of this turn of the event loop, together with what else arrived in it.
        if (waiting.length === 1) setImmediate(readMore);
      }),
  };
}
