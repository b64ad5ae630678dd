import type { AccountId } from '@quittance/shared/ids';
import type { Ports } from '../ports.ts';
import { type Endpoint, endpointsOf } from '../store-endpoints.ts';

/** One page of an account's endpoints, the newest first, and how many there are. */
export async function listEndpoints(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ endpoints: Endpoint[]; total: number }> {
  // An account has so few that all are read.
  const all = await endpointsOf(db, account);
  return { endpoints: all.slice((page - 1) * perPage, page * perPage), total: all.length };
}
