import { afterAll, beforeAll } from '@jest/globals';
import type { Candidate, Fixture } from './fixture.ts';
import { readerContract } from './reader-contract.ts';
import { senderContract } from './sender-contract.ts';

/** What every reader and every sender of a chain promises, on one node. */
export function contract(candidate: Candidate): void {
  let fixture: Fixture | undefined;
  const opened = () => fixture as Fixture;
  beforeAll(async () => {
    fixture = await candidate.open();
  });
  readerContract(candidate, opened);
  senderContract(candidate, opened);
  afterAll(() => fixture?.stop());
}
