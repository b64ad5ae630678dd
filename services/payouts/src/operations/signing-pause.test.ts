import { expect, it } from '@jest/globals';
import { pausedChains } from './signing-pause.ts';

const good = { chain: 'bitcoin', signingPause: { reason: undefined } };
const bad = { chain: 'base', signingPause: { reason: 'chain 1' } };
const details = 'the right wallet, network and database of base: chain 1';

it.each([
  ['signing is paused on no chain', [good], { waitsFor: [], without: [] }],
  ['signing is paused on one of several chains', [good, bad], { waitsFor: [], without: [details] }],
  ['signing is paused on all chains', [bad], { waitsFor: [details], without: [] }],
  ['there are none', [], { waitsFor: [], without: [] }],
])('when %s', (_what, chains, expected) => {
  expect(pausedChains(chains)).toEqual(expected);
});
