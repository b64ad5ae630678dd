import { choiceInvariants } from './choice-invariants.ts';
import { depositInvariants } from './deposit-invariants.ts';
import type { Invariant } from './invariant.ts';
import { ledgerInvariants } from './ledger-invariants.ts';
import { payoutInvariants } from './payout-invariants.ts';
import { progressInvariants } from './progress-invariants.ts';
import { webhookInvariants } from './webhook-invariants.ts';

/** Invariants within the records. chain-invariants.ts has those between the records and a chain. */
export const invariants: readonly Invariant[] = [
  ...ledgerInvariants,
  ...payoutInvariants,
  ...depositInvariants,
  ...choiceInvariants,
  ...progressInvariants,
  ...webhookInvariants,
];
