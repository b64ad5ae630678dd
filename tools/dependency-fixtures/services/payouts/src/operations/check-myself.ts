// breaks: reconciliation-is-independent
import { invariants } from '../../../../packages/reconciliation/src/invariants.ts';

export const mine = invariants;
