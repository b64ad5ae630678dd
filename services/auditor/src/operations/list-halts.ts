import type { Queryable } from '@quittance/shared/db';
import { type HaltInForce, haltsInForce, openHalts, type ShownHalt } from '../store/halts.ts';

export type Halts = { open: ShownHalt[]; inForce: HaltInForce[] };

/** Which assets' payouts are halted: what was asked for, and what payouts has heard of. Changes nothing. */
export const listHalts = async (db: Queryable): Promise<Halts> => ({
  open: await openHalts(db),
  inForce: await haltsInForce(db),
});
