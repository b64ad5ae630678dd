import type { AssetSymbol } from '@quittance/shared/assets';
import { type ForeignCurrency, foreignCurrencies, isForeignCurrency } from '@quittance/shared/currencies';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { formatRate, parseRate, type Rate, type Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { FeePolicy } from '../domain/network-fee.ts';
import type { AgreedRate } from '../domain/quote.ts';

const chosen = bulk({ asset: 'text', n: 'int' }, 2);

const configure = statement(
  'assets_configure',
  `update assets set active = symbol = any($1::text[]), min_confirmations_set = (
     select n from ${chosen.from('chosen')} where asset = symbol)`,
);

/** The operator's choice of assets and of their confirmations, from the configuration. */
export async function configureAssets(
  db: Queryable,
  active: readonly string[],
  minConfirmations: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = [...minConfirmations].map(([asset, n]) => ({ asset, n }));
  await db.rows(configure, [active, ...chosen.values(rows)]);
}

// A currency has its rate in the same table, under its code: no asset has that symbol.
const quotes = bulk({
  symbol: 'asset text',
  usdRate: 'numeric',
  spreadBps: 'int',
  sources: 'jsonb',
  asOf: 'timestamptz',
});

const upsert = statement(
  'quotes_upsert',
  `${quotes.insertInto('quotes')}
   on conflict (asset) do update set usd_rate = excluded.usd_rate, spread_bps = excluded.spread_bps,
     sources = excluded.sources, as_of = excluded.as_of
   where quotes.as_of <= excluded.as_of`,
);

const kept = bulk({ symbol: 'currency text', usdRate: 'numeric', asOf: 'timestamptz' });

const keepRates = statement(
  'currency_rates_keep',
  `insert into currency_rates (currency, usd_rate, as_of)
   select currency, usd_rate, as_of from ${kept.from('given')}
   where not exists (select from currency_rates k
     where k.currency = given.currency and k.as_of > given.as_of - interval '1 hour')`,
);

/** Keeps the rates that sources agreed on now; what has none keeps its old rate with its old time. */
export async function saveRates(trx: Trx, rates: readonly AgreedRate[]): Promise<void> {
  if (rates.length === 0) return;
  const rows = rates.map(({ symbol, rate, spreadBasisPoints: spreadBps, sources, asOf }) => ({
    symbol,
    usdRate: formatRate(rate),
    spreadBps,
    sources: JSON.stringify(
      sources.map(({ name, rate: usd, readAt }) => ({
        name,
        usd_rate: formatRate(usd),
        read_at: readAt.toISOString(),
      })),
    ),
    asOf,
  }));
  await trx.rows(upsert, quotes.values(rows));
  const ofCurrencies = rows.filter(({ symbol }) => isForeignCurrency(symbol));
  if (ofCurrencies.length > 0) await trx.rows(keepRates, kept.values(ofCurrencies));
}

type SourceRates = { name: string; usd_rate: string; read_at: string }[];

/** A currency's last rate. `usdRate` is decimal text: see `storedRate`. */
export type FiatRateRow = {
  currency: ForeignCurrency;
  usdRate: string;
  spreadBps: number;
  sources: SourceRates;
  asOf: Date;
};

const selectFiatRates = query<FiatRateRow>(
  'quotes_of_currencies',
  'select asset as currency, usd_rate, spread_bps, sources, as_of from quotes where asset = any($1::text[])',
);

/** The last rate of each currency that ever had one. */
export const allFiatRates = (db: Queryable): Promise<FiatRateRow[]> =>
  db.rows(selectFiatRates, [foreignCurrencies]);

/** An asset as the operator and the market have it. The last four are null until a first rate is known. */
export type AssetRow = {
  symbol: AssetSymbol;
  active: boolean;
  minConfirmations: number;
  networkFee: Units;
  dust: Units;
  /** Decimal text: see `storedRate`. */
  usdRate: string | null;
  spreadBps: number | null;
  sources: SourceRates | null;
  asOf: Date | null;
};

const minConfirmations = 'coalesce(a.min_confirmations_set, a.min_confirmations) as min_confirmations';

const selectAssets = query<AssetRow>(
  'assets_select',
  `select a.symbol, a.active, ${minConfirmations}, a.network_fee, a.dust,
     q.usd_rate, q.spread_bps, q.sources, q.as_of
   from assets a left join quotes q on q.asset = a.symbol`,
);

/** Every asset of the catalogue, active or not. */
export const allAssets = (db: Queryable): Promise<AssetRow[]> => db.rows(selectAssets);

export type AssetCardRow = Pick<AssetRow, 'symbol' | 'minConfirmations' | 'networkFee' | 'usdRate'>;

const selectActive = query<AssetCardRow>(
  'assets_active',
  `select a.symbol, ${minConfirmations}, a.network_fee, q.usd_rate
   from assets a left join quotes q on q.asset = a.symbol where a.active`,
);

export const activeAssets = (db: Queryable): Promise<AssetCardRow[]> => db.rows(selectActive);

export type BalanceRow = AssetCardRow & { available: Units; held: Units };

const selectBalances = query<BalanceRow>(
  'balances_of_account',
  `select a.symbol, ${minConfirmations}, a.network_fee, q.usd_rate,
     coalesce(b.available, 0) as available, coalesce(b.held, 0) as held
   from assets a
   left join quotes q on q.asset = a.symbol
   left join balances b on b.asset = a.symbol and b.account_id = $1
   where a.active`,
);

const selectAvailable = query<{ available: Units }>(
  'balances_available',
  `select coalesce((select available from balances where account_id = $1 and asset = $2), 0) as available`,
);

/** What an account can spend of an asset. */
export const availableOf = async (db: Queryable, account: AccountId, asset: AssetSymbol): Promise<Units> =>
  (await db.one(selectAvailable, [account, asset])).available;

/** Every active asset with what the account has of it, also when that is nothing. */
export const balancesOf = (db: Queryable, account: AccountId): Promise<BalanceRow[]> =>
  db.rows(selectBalances, [account]);

type PolicyRow = Omit<FeePolicy, 'rate'> & Pick<AssetRow, 'usdRate' | 'asOf'>;

const selectPolicies = query<PolicyRow>(
  'assets_fee_policies',
  `select a.symbol, a.network_fee, a.fee_margin_percent::numeric as margin_percent, a.fee_floor as floor,
     a.fee_cap as cap, q.usd_rate, q.as_of
   from assets a left join quotes q on q.asset = a.symbol`,
);

export async function feePolicies(trx: Trx): Promise<FeePolicy[]> {
  const rows = await trx.rows(selectPolicies);
  return rows.map(({ usdRate, asOf, ...policy }) => ({
    ...policy,
    rate: usdRate === null || asOf === null ? null : { usd: storedRate(usdRate), asOf },
  }));
}

/** What Postgres holds as numeric(96,18). */
export function storedRate(text: string): Rate {
  const rate = parseRate(text);
  invariant(rate.ok, 'a stored rate has at most 18 decimals');
  return rate.value;
}

const changed = bulk({ symbol: 'asset text', networkFee: 'fee numeric' });

const updateFees = statement(
  'assets_update_fees',
  `update assets set network_fee = fee from ${changed.from('changed')}
   where symbol = asset`,
);

export async function saveFees(
  trx: Trx,
  fees: readonly { symbol: AssetSymbol; networkFee: Units }[],
): Promise<void> {
  if (fees.length === 0) return;
  await trx.rows(updateFees, changed.values(fees));
}

const selectUnrated = query<{ symbol: AssetSymbol }>(
  'assets_without_rate',
  `select symbol from assets a where active and not exists (select from quotes where asset = a.symbol)
   order by symbol`,
);

/** Active assets that no source has ever given a rate for. */
export async function assetsWithoutRate(db: Queryable): Promise<AssetSymbol[]> {
  return (await db.rows(selectUnrated)).map(({ symbol }) => symbol);
}
