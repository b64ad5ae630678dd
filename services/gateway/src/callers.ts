import type { Db } from '@quittance/shared/db';
import { Unavailable } from '@quittance/shared/http';
import { reason } from '@quittance/shared/logger';
import { requestBatcher } from '@quittance/shared/request-batcher';
import { type Caller, callersByHash } from './store/tokens.ts';

/** Reads whose token a hash is of; Unavailable when the database cannot say. */
export type Callers = { byHash(hash: Buffer): Promise<Caller | undefined> };

const BATCH_MAX = 200;
/** With one batch in flight and one more, a request waits for at most one that it is not in. */
const BATCHES_AT_ONCE = 2;

/** Reads tokens from the database, under load many in one statement. No cache: each answer was read after its request came. */
export function openCallers(db: Db): Callers {
  const read = requestBatcher({
    async run(hashes: readonly Buffer[]) {
      const found = await callersByHash(db, hashes);
      const byHash = new Map(found.map((row) => [row.hash.toString('latin1'), row]));
      return hashes.map((hash): Caller | undefined => byHash.get(hash.toString('latin1')));
    },
    max: BATCH_MAX,
    atOnce: BATCHES_AT_ONCE,
  });
  return {
    async byHash(hash) {
      try {
        return await read(hash);
      } catch (error) {
        throw new Unavailable(`tokens cannot be read: ${reason(error)}`);
      }
    },
  };
}
