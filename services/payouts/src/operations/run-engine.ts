import { WrongNetwork } from '@quittance/chains/chain';
import { type Lease, LeaseLost, takeLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import type { Ports } from '../ports.ts';
import { followTransactions } from './follow-transactions.ts';
import { holdingLease } from './keep-lease.ts';
import { payReserved } from './pay-reserved.ts';
import { strangeWallet } from './strange-wallet.ts';
import { unknownHistory } from './unknown-history.ts';
import { watchEnded } from './watch-ended.ts';

export const engineLease = (hotAddress: string): string => `engine:ethereum:${hotAddress}`;

/**
 * One round of the engine that pays: what has become of all that was signed, then who is paid next. One process
 * at a time does this for a hot wallet; another one that believes it is the one is refused when it wants to sign.
 * Nothing is kept in memory between rounds, so that any process can go on where another one died.
 * @returns how much was moved on; 0 means wait.
 */
export async function runEngine(ports: Ports): Promise<number> {
  const { db, sender, settings, logger } = ports;
  if (!(await isRightWalletOnRightNetwork(ports))) return 0;
  const lease = await takeLease(db, engineLease(sender.hotAddress), settings.replica, settings.leaseMs);
  if (lease === undefined) return 0;
  try {
    return await holdingLease(ports, lease, () => runWith(ports, lease));
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    logger.warn({ lease: lease.name }, 'another process has taken over the engine');
    return 0;
  }
}

async function runWith(ports: Ports, lease: Lease): Promise<number> {
  const followed = await followTransactions(ports, lease);
  const paid = (await mayGoOn(ports)) ? await payReserved(ports, lease) : 0;
  try {
    await watchEnded(ports);
  } catch (error) {
    ports.notices.say(
      'warn',
      'watch',
      { reason: reason(error) },
      'settled transactions could not be watched',
    );
  }
  return followed + paid;
}

/** A node of another network, or words of another wallet, are refused before anything is signed. */
async function isRightWalletOnRightNetwork(ports: Ports): Promise<boolean> {
  const { sender, signingBar } = ports;
  try {
    await sender.check();
    const strange = await strangeWallet(ports);
    signingBar.reason = strange ?? (await unknownHistory(ports));
    // With a history that is not known, what was signed is followed all the same.
    if (strange === undefined) return true;
  } catch (error) {
    if (!(error instanceof WrongNetwork)) throw error;
    signingBar.reason = error.message;
  }
  sayBarred(ports);
  return false;
}

/** No nonce is given out while the chain has used others that are not known here. */
async function mayGoOn(ports: Ports): Promise<boolean> {
  const { signingBar } = ports;
  signingBar.reason = await unknownHistory(ports);
  if (signingBar.reason === undefined) return true;
  sayBarred(ports);
  return false;
}

function sayBarred({ signingBar, notices }: Ports): void {
  notices.say('error', 'signing_bar', { reason: signingBar.reason }, 'nothing is signed');
}
