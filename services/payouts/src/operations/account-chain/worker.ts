import type { Lease } from '@quittance/shared/lease';
import { sayBarred } from '../say-barred.ts';
import type { AccountChainDriver, AccountChainPorts } from './driver.ts';
import { followTransactions } from './follow-transactions.ts';
import { payReserved } from './pay-reserved.ts';
import { sweepEconomical } from './sweep-economical.ts';

/** One round on a chain of accounts: what became of everything signed, then who is paid next. */
export async function runAccountChain(
  ports: AccountChainPorts,
  lease: Lease,
  driver: AccountChainDriver,
): Promise<number> {
  const followed = await followTransactions(ports, lease, driver);
  const { moved, isReady } = await driver.prepare();
  if (ports.signingBar.reason !== undefined) sayBarred(ports);
  if (!isReady) return followed + moved;
  const paid = await payReserved(ports, lease, driver);
  return followed + moved + paid + (await sweepEconomical(ports, lease, driver));
}
