import type { Lease } from '@quittance/shared/lease';
import { invariant } from '@quittance/shared/result';
import type { EvmPorts } from '../../ports.ts';
import type { Family } from '../../store-transactions.ts';
import { skipUsedNonces } from '../../store-wallets.ts';
import { buryFamily } from '../bury-family.ts';

/**
 * A transaction that is none of a family's attempts was found with their nonce in a block that is final: none of them
 * can ever be mined. A deposit address goes on behind what somebody else has used. False when it had ended before.
 */
export async function buryReplaced(
  ports: EvmPorts,
  lease: Lease,
  [first]: Family,
  finalizedNonce: number,
): Promise<boolean> {
  const { chain, sender } = ports;
  const { wallet, nonce } = first;
  invariant(nonce !== null && finalizedNonce > nonce, 'only a final block proves that a nonce is used up');
  return buryFamily(ports, lease, first, async (trx) => {
    if (wallet !== sender.hotAddress) await skipUsedNonces(trx, chain, wallet, finalizedNonce);
  });
}
