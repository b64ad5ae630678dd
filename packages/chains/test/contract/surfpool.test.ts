import { readerContract } from './reader-contract.ts';
import { senderContract } from './sender-contract.ts';
import { surfpoolCandidate } from './surfpool-world.ts';

readerContract(surfpoolCandidate);
senderContract(surfpoolCandidate);
