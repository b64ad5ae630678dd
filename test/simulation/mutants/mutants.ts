import type { Mutant } from '../mutant.ts';
import { batchMutants } from './batches.ts';
import { cancelMutants } from './cancels.ts';
import { depositMutants } from './deposits.ts';
import { exportMutants } from './exports.ts';
import { holdMutants } from './holds.ts';
import { inboxMutants } from './inboxes.ts';
import { lateFundsMutants } from './late-funds.ts';
import { messageMutants } from './messages.ts';
import { pauseMutants } from './pauses.ts';
import { payerMutants } from './payers.ts';
import { refundMutants } from './refunds.ts';
import { signingMutants } from './signing.ts';
import { storageMutants } from './storage.ts';
import { theftMutants } from './thefts.ts';

/** Every mutant that the simulation has to find. */
export const mutants: readonly Mutant[] = [
  ...messageMutants,
  ...holdMutants,
  ...signingMutants,
  ...depositMutants,
  ...storageMutants,
  ...theftMutants,
  ...inboxMutants,
  ...cancelMutants,
  ...batchMutants,
  ...refundMutants,
  ...payerMutants,
  ...pauseMutants,
  ...exportMutants,
  ...lateFundsMutants,
];
