import { fakeCandidate } from './fake-world.ts';
import { readerContract } from './reader-contract.ts';
import { senderContract } from './sender-contract.ts';

readerContract(fakeCandidate('utxo'));
senderContract(fakeCandidate('utxo'));
readerContract(fakeCandidate('account'));
senderContract(fakeCandidate('account'));
