import { anvilCandidate } from './anvil-fixture.ts';
import { contract } from './contract.ts';

contract(anvilCandidate);
