import type { Ports } from '../ports.ts';
import { extendClaims } from '../store/claims.ts';
import { type ClaimedDelivery, LEASE_MS } from './claim-deliveries.ts';

/** Says of deliveries that their sender is alive and still at it. */
export async function renewClaims(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  deliveries: readonly ClaimedDelivery[],
): Promise<void> {
  await extendClaims(db, deliveries, new Date(clock.now().getTime() + LEASE_MS));
}
