import { contract } from './contract.ts';
import { surfpoolCandidate } from './surfpool-fixture.ts';

contract(surfpoolCandidate);
