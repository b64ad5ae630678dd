import type { Queryable } from '@quittance/shared/db';
import { type HaltInForce, haltsInForce, openHalts, type ShownHalt } from '../store/halts.ts';

export type Halts = { open: ShownHalt[]; inForce: HaltInForce[] };

/** The open halts, and the assets that payouts has halted. */
export const listHalts = async (db: Queryable): Promise<Halts> => ({
  open: await openHalts(db),
  inForce: await haltsInForce(db),
});
