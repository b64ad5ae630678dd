import { expect, it } from '@jest/globals';
import { barredChains } from './signing-pause.ts';

const good = { chain: 'bitcoin', signingBar: { reason: undefined } };
const bad = { chain: 'base', signingBar: { reason: 'chain 1' } };
const said = 'the right wallet, network and database of base: chain 1';

it.each([
  ['none is barred', [good], { waitsFor: [], without: [] }],
  ['one of several is barred', [good, bad], { waitsFor: [], without: [said] }],
  ['all are barred', [bad], { waitsFor: [said], without: [] }],
  ['there are none', [], { waitsFor: [], without: [] }],
])('when %s', (_what, chains, expected) => {
  expect(barredChains(chains)).toEqual(expected);
});
