import { expect, it } from '@jest/globals';
import { pausedChains } from './signing-pause.ts';

const good = { chain: 'bitcoin', signingPause: { reason: undefined } };
const bad = { chain: 'base', signingPause: { reason: 'chain 1' } };
const details = 'the right wallet, network and database of base: chain 1';

it.each([
  ['none is barred', [good], { waitsFor: [], without: [] }],
  ['one of several is barred', [good, bad], { waitsFor: [], without: [details] }],
  ['all are barred', [bad], { waitsFor: [details], without: [] }],
  ['there are none', [], { waitsFor: [], without: [] }],
])('when %s', (_what, chains, expected) => {
  expect(pausedChains(chains)).toEqual(expected);
});
