import { expect } from '@jest/globals';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import type { AccountId } from '@quittance/shared/ids';
import type { Invoice, MoneyIn } from './money-in.ts';

/** An invoice whose payment was forged, and its account. */
export type Forged = { name: string; account: AccountId; invoice: Invoice };

/** After this an invoice of a minute is closed, and its address was looked at once more. */
const SETTLE_MS = 160_000;

/** What deposits in these states say that an invoice received. */
export async function received(
  shop: MoneyIn,
  { id }: Invoice,
  asset: AssetSymbol,
  states: readonly string[] = ['seen', 'settled', 'missing'],
): Promise<bigint> {
  const { sum } = await shop.db.one<{ sum: string }>(
    `select coalesce(sum(amount), 0)::text as sum from deposits
     where invoice_id = $1 and asset = $2 and state = any($3)`,
    [id, asset, states],
  );
  return BigInt(sum);
}

/** Lets everything become final, and expects that the ledger owes each account what lies on its address. */
export async function expectOwed<Asset extends AssetSymbol>(
  shop: MoneyIn,
  chain: Chain,
  {
    forged,
    assets,
    balance,
    mine,
  }: {
    forged: Iterable<Forged>;
    assets: readonly Asset[];
    balance(asset: Asset, address: string): Promise<bigint>;
    mine(): Promise<void>;
  },
): Promise<void> {
  await shop.pass(chain, SETTLE_MS, mine);
  await shop.settled();
  for (const { name, account, invoice } of forged) {
    for (const asset of assets) {
      const { available, held, unresolved } = await shop.booked(account, asset);
      const there = await balance(asset, invoice.address);
      expect({ name, asset, owed: available + held + unresolved }).toEqual({ name, asset, owed: there });
    }
  }
  expect(await shop.discrepancies(['I1', 'I2', 'I3', 'I5'])).toEqual([]);
  expect(await shop.unborne(chain)).toEqual([]);
}
