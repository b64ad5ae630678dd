import { bitcoindCandidate } from './bitcoind-fixture.ts';
import { contract } from './contract.ts';

contract(bitcoindCandidate);
