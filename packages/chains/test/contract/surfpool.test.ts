import { readerContract } from './reader-contract.ts';
import { senderContract } from './sender-contract.ts';
import { surfpoolCandidate } from './surfpool-fixture.ts';

readerContract(surfpoolCandidate);
senderContract(surfpoolCandidate);
