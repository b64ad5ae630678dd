import { type AssetSymbol, assetSymbols, isAssetSymbol } from '@quittance/shared/assets';
import { CommandError } from './surroundings.ts';

/** The asset that an operator has named, in whatever letters. Throws CommandError when there is none. */
export function assetNamed(text: string): AssetSymbol {
  const symbol = text.toUpperCase();
  if (isAssetSymbol(symbol)) return symbol;
  throw new CommandError(`There is no asset ${JSON.stringify(text)}; there are ${assetSymbols.join(', ')}.`);
}
