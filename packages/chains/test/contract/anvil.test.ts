import { anvilCandidate } from './anvil-fixture.ts';
import { readerContract } from './reader-contract.ts';
import { senderContract } from './sender-contract.ts';

readerContract(anvilCandidate);
senderContract(anvilCandidate);
