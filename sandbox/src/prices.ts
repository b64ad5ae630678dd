import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** US dollars for one whole asset: where the sandbox's market stands at the first start. */
const opening = { BTC: '60000', ETH: '2500', SOL: '150', USDC_ERC20: '1' };

/** The fixed table the sandbox's ledger reads its rates from, again and again: edit it while it runs. */
export function pricesFile(dir: string): string {
  const path = join(dir, 'prices.json');
  if (!existsSync(path)) writeFileSync(path, `${JSON.stringify(opening, null, 2)}\n`);
  return path;
}
