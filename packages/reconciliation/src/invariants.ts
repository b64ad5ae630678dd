import { depositInvariants } from './deposit-invariants.ts';
import type { Invariant } from './invariant.ts';
import { ledgerInvariants } from './ledger-invariants.ts';
import { payoutInvariants } from './payout-invariants.ts';
import { progressInvariants } from './progress-invariants.ts';
import { webhookInvariants } from './webhook-invariants.ts';

/** What must be true within the books. chain-invariants.ts says what must be true between them and a chain. */
export const invariants: readonly Invariant[] = [
  ...ledgerInvariants,
  ...payoutInvariants,
  ...depositInvariants,
  ...progressInvariants,
  ...webhookInvariants,
];
