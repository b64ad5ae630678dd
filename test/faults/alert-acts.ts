import type { AlertFault } from './alert-fault.ts';
import {
  ofAReorganisation,
  ofAStrangeChain,
  ofBlocks,
  ofNodeAndBus,
  ofTheft,
} from './alert-faults-of-chains.ts';
import { ofEngines } from './alert-faults-of-engines.ts';
import { ofServices, ofTheGateway } from './alert-faults-of-services.ts';
import { ofWork } from './alert-faults-of-work.ts';

/** Faults that begin at once and are put right before the next. */
type Act = { while: string; faults: readonly AlertFault[] };

/** Those whose alerts take longest to end come first: nobody waits for that between them. */
export const acts: readonly Act[] = [
  { while: 'everything runs, and much goes wrong', faults: [...ofEngines, ...ofWork, ...ofBlocks] },
  { while: 'the gateway and the auditor run alone', faults: ofServices },
  { while: 'no node and no bus answers', faults: ofNodeAndBus },
  {
    while: 'the chain is not as the records have it, and nobody looks after it',
    faults: [...ofAStrangeChain, ...ofTheGateway],
  },
  { while: 'a deep reorganisation takes a payout away', faults: ofAReorganisation },
  { while: 'money is missing', faults: ofTheft },
];
