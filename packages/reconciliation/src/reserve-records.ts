import { type AssetSymbol, assetsOf, type Chain, type ChainKind } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { onTheWay } from './events-on-the-way.ts';
import type { Watermarks } from './watermarks.ts';

export type AssetAmount = { asset: AssetSymbol; amount: string };

/** What the services have recorded about how much of each asset a chain holds for us, and where. Amounts in base units. */
export type ReserveRecords = {
  /** To merchants. */
  owed: AssetAmount[];
  /** All that has come less all that has left, by the ledger's entries: what merchants own, and what we have earned. */
  booked: AssetAmount[];
  /** The operator's own money beside it. Not there: it was never measured. */
  funds: AssetAmount[];
  hot: string[];
  /** Addresses with deposits: unswept ones, also those that payouts has not been told of yet, and none where all were swept. */
  held: { asset: AssetSymbol; address: string; amount: string; moving: boolean }[];
  /** What was found at other addresses that were given out, when they were looked at last. */
  remains: AssetAmount[];
  /** Outpoints of unspent outputs of ours. */
  utxos: string[];
  /** Payments to the addresses of `held` that are in a block and not booked yet. */
  unbooked: AssetAmount[];
  /** What final transactions of ours cost, which the ledger has not been told of yet. */
  spent: { tx_hash: string; amount: string }[];
  /** Credited deposits that the chain has dropped: they may come back, and are written off when they do not. */
  dropped: AssetAmount[];
};

export type ReserveScope = {
  /** The ledger's entries up to these transfers are summed already. */
  watermarks?: Watermarks | undefined;
  /**
   * Addresses whose deposits were all swept before are not asked: what remained there is known from the last look at them.
   * Undefined: every address that ever had a deposit is asked.
   */
  sweptSince?: Date | undefined;
};

type OnChain = { name: Chain; kind: ChainKind };

const bookedSince = (transfers: string) => `
  select asset, amount from auditor.custody_snapshots
  union all
  select asset, amount from ledger.entries where bucket = 'custody' and transfer_seq > ${transfers}`;
const SNAPSHOT_UNTIL = 'coalesce((select transfer_seq from auditor.balance_snapshots_until), 0)';
const allBooked = `select asset, amount from ledger.entries where bucket = 'custody'`;

export async function readReserveRecords(
  trx: Trx,
  { name, kind }: OnChain,
  { watermarks, sweptSince }: ReserveScope,
): Promise<ReserveRecords> {
  const symbols = assetsOf(name);
  const amounts = (sql: string, values: unknown[]) => trx.rows<AssetAmount>(sql, values);
  const canonical = kind === 'evm' ? `lower(payload ->> 'address')` : `payload ->> 'address'`;
  const hot = await trx.rows<{ address: string }>(
    `select address from payouts.wallets where chain = $1 and role = 'hot'`,
    [name],
  );
  const held = await trx.rows<ReserveRecords['held'][number]>(
    `select asset, address, sum(amount)::text as amount, bool_or(moving) as moving from (
       select asset, address, case state when 'swept' then 0 else amount end as amount, state = 'sweeping' as moving
       from payouts.unswept_deposits
       where chain = $1 and reversed_at is null and (state <> 'swept' or updated_at >= $3)
       union all
       select payload ->> 'asset', ${canonical}, (payload ->> 'amount')::numeric, true
       from (${onTheWay('deposit.settled', 'payouts')}) as w where payload ->> 'asset' = any($2)
     ) as there group by asset, address`,
    [name, symbols, sweptSince ?? new Date(0)],
  );
  const addressesHeld = [...new Set(held.map(({ address }) => address))];
  return {
    // The fee of a payout in flight pays for its transaction, and the chain may have charged it already.
    owed: await amounts(
      `select asset, sum(amount)::text as amount from (
         select asset, available + held + unresolved as amount from ledger.balances
         union all
         select asset, -network_fee from ledger.holds where state = 'placed'
       ) as parts where asset = any($1) group by asset having sum(amount) > 0`,
      [symbols],
    ),
    booked: await amounts(
      `select asset, (-sum(amount))::text as amount from (
         ${watermarks === undefined ? allBooked : bookedSince(SNAPSHOT_UNTIL)}
       ) as custody where asset = any($1) group by asset`,
      [symbols],
    ),
    funds: await amounts(
      `select asset, sum(amount)::text as amount from auditor.operator_funds where asset = any($1) group by asset`,
      [symbols],
    ),
    hot: hot.map(({ address }) => address),
    held,
    remains:
      sweptSince === undefined
        ? []
        : await amounts(
            `select asset, sum(amount)::text as amount from auditor.address_remains r
             where chain = $1 and not exists (
               select from unnest($2::text[], $3::text[]) as h(asset, address) where h.asset = r.asset and h.address = r.address)
             group by asset`,
            [name, held.map(({ asset }) => asset), held.map(({ address }) => address)],
          ),
    utxos: kind === 'bitcoin' ? await unspentOutputs(trx, name, symbols) : [],
    unbooked: await amounts(
      `select asset, sum(amount)::text as amount from (
         select asset, amount from invoices.deposits
         where chain = $1 and state = 'seen' and address = any($3) and $4
         union all
         select payload ->> 'asset', (payload ->> 'amount')::numeric
         from (${onTheWay('deposit.settled', 'ledger')}) as w where payload ->> 'asset' = any($2)
       ) as arriving group by asset`,
      [name, symbols, addressesHeld, kind !== 'bitcoin'],
    ),
    spent: await trx.rows<{ tx_hash: string; amount: string }>(
      `select payload ->> 'tx_hash' as tx_hash, payload ->> 'amount' as amount
       from (${onTheWay('network.spent', 'ledger')}) as w where payload ->> 'chain' = $1`,
      [name],
    ),
    dropped: await amounts(
      `select d.asset, sum(d.amount)::text as amount from invoices.deposits d
       where d.chain = $1 and d.credited_at is not null and (
         d.state = 'missing'
         or (d.state = 'reversed' and exists (
           select 1 from (${onTheWay('deposit.reversed', 'ledger')}) as w where w.payload ->> 'deposit_id' = d.id)))
       group by d.asset`,
      [name],
    ),
  };
}

async function unspentOutputs(trx: Trx, name: Chain, symbols: readonly AssetSymbol[]): Promise<string[]> {
  const rows = await trx.rows<{ outpoint: string }>(
    `select outpoint from payouts.utxos where chain = $1 and state <> 'spent' and reversed_at is null
     union select payload ->> 'outpoint' from (${onTheWay('deposit.settled', 'payouts')}) as w
     where payload ->> 'asset' = any($2)`,
    [name, symbols],
  );
  return rows.map(({ outpoint }) => outpoint);
}
