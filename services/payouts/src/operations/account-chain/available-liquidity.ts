import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { add, type Liquidity, liquidityOf } from '../../domain/plan.ts';
import { openSums } from '../../store/replacement-groups.ts';
import type { AccountChainDriver, AccountChainPorts } from './driver.ts';

/**
 * What the hot wallet can spend. Open transactions are read before balances: a payout that a block includes in between
 * is subtracted twice, which makes us wait, instead of spent twice.
 */
export async function availableLiquidity(
  { db, chain, sender }: Pick<AccountChainPorts, 'db' | 'chain' | 'sender'>,
  { deductions }: Pick<AccountChainDriver, 'deductions'>,
  assetsInUse: Iterable<AssetSymbol>,
): Promise<Liquidity> {
  const deduct = await deductions();
  const open = await openSums(db, chain, sender.hotAddress);
  const balances = new Map<AssetSymbol, Units>();
  for (const asset of assetsInUse) balances.set(asset, await sender.balance(asset, sender.hotAddress));
  const liquidity = liquidityOf(chain, balances, open);
  for (const { asset, amount } of await deduct()) add(liquidity.free, asset, -amount);
  return liquidity;
}
