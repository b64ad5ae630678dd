import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { ForeignCurrency } from '@quittance/shared/currencies';

/** US dollars for one whole asset or one unit of a currency: where the sandbox's market stands at the first start. */
const opening = {
  BTC: '60000',
  ETH: '2500',
  SOL: '150',
  USDC_ERC20: '1',
  USDC_SOL: '1',
  ETH_BASE: '2500',
  USDC_BASE: '1',
  POL: '0.5',
  USDC_POLYGON: '1',
  EUR: '1.08',
  GBP: '1.25',
  CHF: '1.12',
  JPY: '0.0064',
  CAD: '0.72',
  AUD: '0.65',
} satisfies Record<AssetSymbol | ForeignCurrency, string>;

/**
 * The fixed table the sandbox's ledger reads its rates from, again and again: edit it while it runs. What an earlier
 * version's table does not name is added.
 */
export function pricesFile(dir: string): string {
  const path = join(dir, 'prices.json');
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as object) : {};
  if (Object.keys(opening).some((symbol) => !Object.hasOwn(known, symbol))) {
    writeFileSync(path, `${JSON.stringify({ ...opening, ...known }, null, 2)}\n`);
  }
  return path;
}
