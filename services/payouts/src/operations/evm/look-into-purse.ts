import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { add, type Purse, purseOf } from '../../domain/purse.ts';
import type { EvmPorts } from '../../ports.ts';
import { type OpenSweep, openSums, sweepsInNoBlock } from '../../store-transactions.ts';

const ASKED_TOGETHER = 8;

/**
 * Open transactions are read before balances: a payout that is mined in between is then taken off twice, which makes
 * us wait, instead of spent twice. A sweep that is mined in between would be counted although its block may still be
 * dropped: whose nonce the chain has reached when the balances are known is not counted, mined or not.
 */
export async function lookIntoPurse(ports: EvmPorts, assetsInUse: ReadonlySet<AssetSymbol>): Promise<Purse> {
  const { db, chain, sender } = ports;
  const sweeps = await sweepsInNoBlock(db, chain);
  const open = await openSums(db, chain, sender.hotAddress);
  const balances = new Map<AssetSymbol, Units>();
  for (const asset of assetsInUse) balances.set(asset, await sender.balance(asset, sender.hotAddress));
  const purse = purseOf(chain, balances, open);
  for (const { asset, amount } of await reachedByNow(ports, sweeps)) add(purse.free, asset, -amount);
  return purse;
}

/** Those of the sweeps that may be in a block by now: also those of wallets that the node does not tell about. */
async function reachedByNow({ sender }: EvmPorts, sweeps: readonly OpenSweep[]): Promise<OpenSweep[]> {
  const reached: OpenSweep[] = [];
  const byWallet = [...Map.groupBy(sweeps, (sweep) => sweep.wallet)];
  for (let from = 0; from < byWallet.length; from += ASKED_TOGETHER) {
    const some = byWallet.slice(from, from + ASKED_TOGETHER);
    const answers = await Promise.allSettled(some.map(([wallet]) => sender.nonce(wallet, 'latest')));
    for (const [i, [, ofWallet]] of some.entries()) {
      const answer = answers[i];
      const next = answer?.status === 'fulfilled' ? answer.value : Number.POSITIVE_INFINITY;
      reached.push(...ofWallet.filter(({ nonce }) => nonce < next));
    }
  }
  return reached;
}
