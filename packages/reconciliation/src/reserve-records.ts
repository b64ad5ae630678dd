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
  /** Unswept deposits, also those that payouts has not been told of yet. */
  held: { asset: AssetSymbol; address: string; amount: string; moving: boolean }[];
  /** What sweeps have left at their addresses, of all that the auditor has stored. */
  leftBehind: AssetAmount[];
  /** The same of sweeps that are not stored yet. */
  leftLately: SweepRemain[];
  /** Outpoints of unspent outputs of ours. */
  utxos: string[];
  /** Settled deposits that the ledger has not been told of yet. */
  unbooked: AssetAmount[];
  /** What final transactions of ours cost, which the ledger has not been told of yet. */
  spent: { tx_hash: string; amount: string }[];
  /** Credited deposits that the chain has dropped: they may come back, and are written off when they do not. */
  dropped: AssetAmount[];
};

/** What a sweep has left at its address: less than nothing where it has moved more than its deposits. */
export type SweepRemain = AssetAmount & { tx_hash: string };

type OnChain = { name: Chain; kind: ChainKind };

const bookedLately = `
  select asset, amount from auditor.custody_snapshots
  union all
  select asset, amount from ledger.entries where bucket = 'custody'
    and transfer_seq > coalesce((select transfer_seq from auditor.custody_snapshots_until), 0)`;
const allBooked = `select asset, amount from ledger.entries where bucket = 'custody'`;

/** Those of a deposit that is still in its chain. */
const settledOnTheWay = `
  select d.asset, d.amount from (${onTheWay('deposit.settled', 'ledger')}) as w
  join invoices.deposits d on d.id = w.payload ->> 'deposit_id' and d.state = 'settled'`;

/** Booked, and not taken back. */
const isBooked = `exists (select from ledger.transfers t where t.op = 'deposit:' || d.id)
  and not exists (select from ledger.transfers t where t.op = 'reversal:' || d.id)`;

/** Its own cost, where the address that is swept has paid it: booked, or on its way to the ledger. */
const leftBySweep = `
  select t.tx_hash, t.asset, (sum(u.amount) - t.amount - case t.wallet when t.swept_address then coalesce(
      (select n.amount from ledger.transfers n where n.op = 'network:' || t.tx_hash),
      (select (w.payload ->> 'amount')::numeric from (${onTheWay('network.spent', 'ledger')}) as w
       where w.payload ->> 'tx_hash' = t.tx_hash), 0) else 0 end)::text as amount
  from payouts.transactions t join payouts.unswept_deposits u on u.sweep_id = t.replacement_group and u.state = 'swept'
  where t.chain = $1 and t.tx_hash = any($2) and t.purpose = 'sweep' and t.state = 'mined'
    and not exists (select from auditor.sweep_remains r where r.tx_hash = t.tx_hash)
  group by t.tx_hash, t.asset, t.amount, t.wallet, t.swept_address`;

/**
 * @param watermarks with these the ledger's entries are not summed from the first on
 * @param hashes of our transactions, whose sweeps may not be stored yet
 */
export async function readReserveRecords(
  trx: Trx,
  { name, kind }: OnChain,
  watermarks: Watermarks | undefined,
  hashes: readonly string[],
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
       select asset, address, amount, state = 'sweeping' as moving from payouts.unswept_deposits
       where chain = $1 and state <> 'swept' and reversed_at is null
       union all
       select payload ->> 'asset', ${canonical}, (payload ->> 'amount')::numeric, true
       from (${onTheWay('deposit.settled', 'payouts')}) as w where payload ->> 'asset' = any($2)
     ) as there group by asset, address`,
    [name, symbols],
  );
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
         ${watermarks === undefined ? allBooked : bookedLately}
       ) as custody where asset = any($1) group by asset`,
      [symbols],
    ),
    funds: await amounts(
      `select asset, sum(amount)::text as amount from auditor.operator_funds where asset = any($1) group by asset`,
      [symbols],
    ),
    hot: hot.map(({ address }) => address),
    held,
    leftBehind: await amounts(
      `select asset, sum(amount)::text as amount from auditor.sweep_remains where asset = any($1) group by asset`,
      [symbols],
    ),
    leftLately: kind === 'bitcoin' ? [] : await trx.rows<SweepRemain>(leftBySweep, [name, hashes]),
    utxos: kind === 'bitcoin' ? await unspentOutputs(trx, name, symbols) : [],
    unbooked: await amounts(
      `select asset, sum(amount)::text as amount from (${settledOnTheWay}) as arriving where asset = any($1) group by asset`,
      [symbols],
    ),
    spent: await trx.rows<{ tx_hash: string; amount: string }>(
      `select payload ->> 'tx_hash' as tx_hash, payload ->> 'amount' as amount
       from (${onTheWay('network.spent', 'ledger')}) as w where payload ->> 'chain' = $1`,
      [name],
    ),
    dropped: await amounts(
      `select d.asset, sum(d.amount)::text as amount from invoices.deposits d
       where d.chain = $1 and (d.state = 'missing'
         or d.id in (select w.payload ->> 'deposit_id' from (${onTheWay('deposit.reversed', 'ledger')}) as w))
         and ${isBooked}
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
