import { expect, test } from '@jest/globals';
import { BY_CONSOLE, isByConsole } from './console-pause.ts';

test.each<[string[], boolean]>([
  [[], false],
  [[BY_CONSOLE], true],
  [[BY_CONSOLE, BY_CONSOLE], true],
  [['wallets hold what the ledger owes'], false],
  [[BY_CONSOLE, 'wallets hold what the ledger owes'], false],
])('a halt for %j is one of the console alone: %p', (invariants, expected) => {
  expect(isByConsole({ discrepancies: invariants.map((invariant) => ({ invariant })) })).toBe(expected);
});
