import type { Ports } from '../ports.ts';
import { extendClaims } from '../store-deliveries.ts';
import { type ClaimedDelivery, LEASE_MS } from './claim-deliveries.ts';

/**
 * Says of deliveries that their sender is alive and still at it.
 * @returns until when that is believed
 */
export async function renewClaims(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  deliveries: readonly ClaimedDelivery[],
): Promise<Date> {
  const until = new Date(clock.now().getTime() + LEASE_MS);
  await extendClaims(db, deliveries, until);
  return until;
}
