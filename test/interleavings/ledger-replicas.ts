import type { Db } from '@quittance/shared/db';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { handleOn, type Sent } from '../../services/ledger/test/ledger-fixture.ts';
import { type Operation, openInterleaver } from './interleave.ts';

/** For one suite: two replicas of the ledger that pause where a test says, and a connection beside them. */
export async function openLedgerReplicas() {
  const database = await suiteDatabase();
  const replicas = await openInterleaver(database, 'ledger');
  database.finally(replicas.close);
  return { replicas, db: database.openAs('ledger', { pool: 1 }) };
}

/** A consumer that pauses with its first lock, and before it commits. */
export const handling = (event: Sent): Operation<void> => ({
  pausesBefore: ['postings_insert', 'commit'],
  run: (on: Db) => handleOn(on, event),
});
