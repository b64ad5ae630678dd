import { type AssetSymbol, nativeAsset } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { add, type Purse, purseOf } from '../../domain/purse.ts';
import type { SolanaPorts } from '../../ports.ts';
import { openSums } from '../../store-transactions.ts';

/**
 * Open transactions are read before balances, and balances are finalized ones: a payout that is finalized in between
 * is taken off twice, which makes us wait, instead of spent twice. What an account must hold to stay is never free.
 */
export async function lookIntoPurse(
  { db, chain, sender }: Pick<SolanaPorts, 'db' | 'chain' | 'sender'>,
  assetsInUse: ReadonlySet<AssetSymbol>,
): Promise<Purse> {
  const open = await openSums(db, chain, sender.hotAddress);
  const balances = new Map<AssetSymbol, Units>();
  for (const asset of assetsInUse) balances.set(asset, await sender.balance(asset, sender.hotAddress));
  const purse = purseOf(chain, balances, open);
  add(purse.free, nativeAsset[chain], -(await sender.rents()).wallet);
  return purse;
}
