import { bitcoindCandidate } from './bitcoind-world.ts';
import { readerContract } from './reader-contract.ts';
import { senderContract } from './sender-contract.ts';

readerContract(bitcoindCandidate);
senderContract(bitcoindCandidate);
