import { contract } from './contract.ts';
import { fakeCandidate } from './fake-fixture.ts';

for (const flavour of ['utxo', 'account'] as const) {
  for (const nodes of [1, 3]) contract(fakeCandidate(flavour, nodes));
}
