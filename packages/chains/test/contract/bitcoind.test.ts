import { bitcoindCandidate } from './bitcoind-fixture.ts';
import { readerContract } from './reader-contract.ts';
import { senderContract } from './sender-contract.ts';

readerContract(bitcoindCandidate);
senderContract(bitcoindCandidate);
