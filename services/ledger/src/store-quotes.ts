import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { formatRate, parseRate, type Rate, type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { FeePolicy } from './domain/network-fee.ts';
import type { AgreedRate } from './domain/quote.ts';

const configure = statement(
  'assets_configure',
  `update assets set active = symbol = any($1::text[]), min_confirmations_set = (
     select n from unnest($2::text[], $3::int[]) as chosen (asset, n) where asset = symbol)`,
);

/** The operator's choice of assets and of their confirmations, from the configuration. */
export async function configureAssets(
  db: Queryable,
  active: readonly string[],
  minConfirmations: ReadonlyMap<string, number>,
): Promise<void> {
  await db.rows(configure, [active, [...minConfirmations.keys()], [...minConfirmations.values()]]);
}

const upsert = statement(
  'quotes_upsert',
  `insert into quotes (asset, usd_rate, spread_bps, sources, as_of)
   select * from unnest($1::text[], $2::numeric[], $3::int[], $4::jsonb[], $5::timestamptz[])
   on conflict (asset) do update set usd_rate = excluded.usd_rate, spread_bps = excluded.spread_bps,
     sources = excluded.sources, as_of = excluded.as_of
   where quotes.as_of <= excluded.as_of`,
);

/** Keeps the rates that sources agreed on now; an asset without one keeps its old rate with its old time. */
export async function saveRates(trx: Trx, rates: readonly AgreedRate[]): Promise<void> {
  if (rates.length === 0) return;
  await trx.rows(upsert, [
    rates.map(({ asset }) => asset),
    rates.map(({ rate }) => formatRate(rate)),
    rates.map((rate) => rate.spreadBasisPoints),
    rates.map(({ sources }) =>
      JSON.stringify(
        sources.map(({ name, rate, readAt }) => ({
          name,
          usd_rate: formatRate(rate),
          read_at: readAt.toISOString(),
        })),
      ),
    ),
    rates.map(({ asOf }) => asOf),
  ]);
}

/** An asset as the operator and the market have it. The last four are null until a first rate is known. */
export type AssetRow = {
  symbol: AssetSymbol;
  active: boolean;
  min_confirmations: number;
  network_fee: string;
  dust: string;
  usd_rate: string | null;
  spread_bps: number | null;
  sources: { name: string; usd_rate: string; read_at: string }[] | null;
  as_of: Date | null;
};

const minConfirmations = 'coalesce(a.min_confirmations_set, a.min_confirmations) as min_confirmations';

const selectAssets = statement(
  'assets_select',
  `select a.symbol, a.active, ${minConfirmations}, a.network_fee, a.dust,
     q.usd_rate, q.spread_bps, q.sources, q.as_of
   from assets a left join quotes q on q.asset = a.symbol`,
);

/** Every asset of the catalogue, active or not. */
export async function allAssets(db: Queryable): Promise<AssetRow[]> {
  return db.rows<AssetRow>(selectAssets);
}

export type AssetCardRow = Pick<AssetRow, 'symbol' | 'min_confirmations' | 'network_fee' | 'usd_rate'>;

const selectActive = statement(
  'assets_active',
  `select a.symbol, ${minConfirmations}, a.network_fee, q.usd_rate
   from assets a left join quotes q on q.asset = a.symbol where a.active`,
);

export async function activeAssets(db: Queryable): Promise<AssetCardRow[]> {
  return db.rows<AssetCardRow>(selectActive);
}

export type BalanceRow = AssetCardRow & { available: string; held: string };

const selectBalances = statement(
  'balances_of_account',
  `select a.symbol, ${minConfirmations}, a.network_fee, q.usd_rate,
     coalesce(b.available, 0) as available, coalesce(b.held, 0) as held
   from assets a
   left join quotes q on q.asset = a.symbol
   left join balances b on b.asset = a.symbol and b.account_id = $1
   where a.active`,
);

/** Every active asset with what the account has of it, also when that is nothing. */
export async function balancesOf(db: Queryable, account: AccountId): Promise<BalanceRow[]> {
  return db.rows<BalanceRow>(selectBalances, [account]);
}

const selectPolicies = statement(
  'assets_fee_policies',
  `select a.symbol, a.network_fee, a.fee_margin_percent, a.fee_floor, a.fee_cap, q.usd_rate, q.as_of
   from assets a left join quotes q on q.asset = a.symbol`,
);

type PolicyRow = Pick<AssetRow, 'symbol' | 'network_fee' | 'usd_rate' | 'as_of'> & {
  fee_margin_percent: number;
  fee_floor: string;
  fee_cap: string;
};

export async function feePolicies(trx: Trx): Promise<FeePolicy[]> {
  const rows = await trx.rows<PolicyRow>(selectPolicies);
  return rows.map((row) => ({
    symbol: row.symbol,
    networkFee: units(row.network_fee),
    marginPercent: BigInt(row.fee_margin_percent),
    floor: units(row.fee_floor),
    cap: units(row.fee_cap),
    rate:
      row.usd_rate === null || row.as_of === null ? null : { usd: storedRate(row.usd_rate), asOf: row.as_of },
  }));
}

/** What Postgres holds as numeric(96,18). */
export function storedRate(text: string): Rate {
  const rate = parseRate(text);
  invariant(rate.ok, 'a stored rate has at most 18 decimals');
  return rate.value;
}

const updateFees = statement(
  'assets_update_fees',
  `update assets set network_fee = fee from unnest($1::text[], $2::numeric[]) as changed (asset, fee)
   where symbol = asset`,
);

export async function saveFees(
  trx: Trx,
  fees: readonly { symbol: AssetSymbol; networkFee: Units }[],
): Promise<void> {
  if (fees.length === 0) return;
  await trx.rows(updateFees, [fees.map(({ symbol }) => symbol), fees.map(({ networkFee }) => networkFee)]);
}

const selectUnrated = statement(
  'assets_without_rate',
  `select symbol from assets a where active and not exists (select from quotes where asset = a.symbol)
   order by symbol`,
);

/** Active assets that no source has ever given a rate for. */
export async function assetsWithoutRate(db: Queryable): Promise<AssetSymbol[]> {
  return (await db.rows<{ symbol: AssetSymbol }>(selectUnrated)).map(({ symbol }) => symbol);
}
