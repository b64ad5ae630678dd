import { fakeCandidate } from './fake-fixture.ts';
import { readerContract } from './reader-contract.ts';
import { senderContract } from './sender-contract.ts';

for (const flavour of ['utxo', 'account'] as const) {
  for (const nodes of [1, 3]) {
    readerContract(fakeCandidate(flavour, nodes));
    senderContract(fakeCandidate(flavour, nodes));
  }
}
