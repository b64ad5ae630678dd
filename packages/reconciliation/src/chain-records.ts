import type { ChainSettings } from '@quittance/chains/settings';
import { type AssetSymbol, assetsOf, type ChainKind } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { ObservedBlock, SingleUseInput } from './chain-observer.ts';
import { onTheWay } from './events-on-the-way.ts';
import { recentDeposits, recentPayouts } from './recent-records.ts';
import { type ReserveRecords, readReserveRecords } from './reserve-records.ts';
import type { Watermarks } from './watermarks.ts';

/** A chain and its node. */
export type ReconciledChain = {
  settings: ChainSettings;
  /** Nothing before this moment is on the chain: a development chain is new whenever its node starts. */
  since?: Date | undefined;
};

/** What the services have recorded about a chain, read in one snapshot. */
export type ChainRecords = {
  payouts: PayoutRow[];
  /** Settled deposits, each with every payment that its transaction is said to have made to the same invoice. */
  deposits: DepositRow[];
  transactions: TransactionRow[];
  /** The inputs of the transactions that may leave the chain for a while. */
  inputs: { group_id: string; input: SingleUseInput }[];
  costs: { tx_hash: string; amount: string }[];
  reserves: ReserveRecords;
  /** Of our transactions, on any chain. */
  newestTransaction: string;
  /** The last block that invoices has processed. */
  cursor: ObservedBlock | undefined;
  height: number;
};
export type PayoutRow = {
  id: string;
  status: string;
  asset: AssetSymbol;
  address: string;
  amount: string;
  group_id: string;
  /** Its hold is still placed. */
  is_held: boolean;
};
export type DepositRow = {
  id: string;
  is_settled: boolean;
  asset: AssetSymbol;
  address: string;
  amount: string;
  tx_hash: string | null;
  block_height: number;
  block_hash: string;
  /** A contract sent it: no transaction shows it, only the balance that changed with this block. */
  by_balance: boolean;
};
export type TransactionRow = {
  group_id: string;
  tx_hash: string;
  state: string;
  purpose: string;
  asset: AssetSymbol;
  /** Its cost must have been booked by now. */
  cost_due: boolean;
  /** The chain may drop it yet, and then it is sent again. */
  may_leave: boolean;
};

export type CheckScope = {
  /** Anything younger may still be on its way from one service to the next. */
  gracePeriodSeconds: number;
  /** Older payouts and deposits are not compared again, except the suspects. */
  since?: Date | undefined;
  /** Subjects of discrepancies that are known: looked at until they are right, however old. */
  suspects?: readonly string[] | undefined;
  /** Compare only what is newer than an earlier check, and what is still open. */
  watermarks?: Watermarks | undefined;
};

/** How many grace periods a mined transaction that is not final may be out of the chain: an hour, with a minute's. */
const AWAY_GRACE_PERIODS = 60;

/** Reads everything before a node is asked, so that the node's answers are never older than the records. */
export async function readChainRecords(
  trx: Trx,
  chain: ReconciledChain,
  scope: CheckScope,
): Promise<ChainRecords> {
  const { chain: name, kind } = chain.settings;
  const symbols = assetsOf(name);
  const since = new Date(Math.max(chain.since?.getTime() ?? 0, scope.since?.getTime() ?? 0));
  const { watermarks, gracePeriodSeconds, suspects = [] } = scope;
  const suspectPayouts = suspects.flatMap((subject) => /^payout (\d+) chain/.exec(subject)?.[1] ?? []);
  const suspectDeposits = suspects.flatMap((subject) => /^deposit (\S+) chain/.exec(subject)?.[1] ?? []);
  const suspectHashes = suspects.flatMap((subject) => /^cost ([^ ,]+)/.exec(subject)?.[1] ?? []);
  const open = `select replacement_group from payouts.transactions where state in ('signed', 'broadcast')`;
  const replacementGroups =
    watermarks === undefined
      ? 'true'
      : `replacement_group in (${open}
           union select replacement_group from payouts.transactions where state in ('mined', 'reverted') and final_at is null
           union select replacement_group from payouts.transactions where id > ${watermarks.transactions}
           union select replacement_group from payouts.payments where payout_id in (${recentPayouts(watermarks)}))`;
  const transactions = await trx.rows<TransactionRow>(
    `select replacement_group::text as group_id, tx_hash, state, purpose, asset,
            state in ('mined', 'reverted') and final_at < now() - $3::int * interval '1 second'
              and not exists (select 1 from (${onTheWay('network.spent', 'ledger')}) as w
                              where w.payload ->> 'tx_hash' = tx_hash) as cost_due,
            state in ('mined', 'reverted') and final_at is null
              and updated_at > now() - $3::int * ${AWAY_GRACE_PERIODS} * interval '1 second' as may_leave
     from payouts.transactions
     where chain = $1 and ((updated_at >= $2 or state in ('signed', 'broadcast')) and ${replacementGroups}
       or replacement_group in (select replacement_group from payouts.payments where payout_id = any($4::bigint[])
                     union select replacement_group from payouts.transactions where tx_hash = any($5)))`,
    [name, since, gracePeriodSeconds, suspectPayouts, suspectHashes],
  );
  const one = await trx.one<{ mined: string | null; newest: string }>(
    `select max(block_height)::text as mined,
       coalesce((select max(id) from payouts.transactions), 0)::text as newest
     from payouts.transactions
     where chain = $1 and (state in ('signed', 'broadcast') or (state in ('mined', 'reverted') and final_at is null))`,
    [name],
  );
  const cursor = await trx.maybe<{ height: number; hash: string }>(
    'select height, hash from invoices.cursors where chain = $1',
    [name],
  );
  return {
    transactions,
    newestTransaction: one.newest,
    reserves: await readReserveRecords(
      trx,
      { name, kind },
      watermarks,
      transactions.map(({ tx_hash }) => tx_hash),
    ),
    cursor,
    inputs: await inputsOf(
      trx,
      kind,
      transactions.filter((one) => one.may_leave),
    ),
    // eslint-disable-next-line no-restricted-syntax -- a height
    height: Math.max(cursor?.height ?? 0, Number(one.mined ?? 0)),
    payouts: await trx.rows<PayoutRow>(
      `select p.id::text as id, p.status, p.asset, m.address, m.amount::text as amount, m.replacement_group::text as group_id,
              h.payout_id is not null as is_held
       from payouts.payments m join payouts.payouts p on p.id = m.payout_id
       left join ledger.holds h on h.payout_id = p.id::text and h.state = 'placed'
       where m.replacement_group = any($1::bigint[]) and p.asset = any($2)`,
      [[...new Set(transactions.map(({ group_id }) => group_id))], symbols],
    ),
    deposits: await trx.rows<DepositRow>(
      `with looked_at as (
         select invoice_id, coalesce(tx_hash, outpoint) as payment from invoices.deposits d
         where chain = $1 and state = 'settled' and (settled_at >= $2 or id = any($4))
           and first_seen_at >= $3 and ${
             watermarks === undefined
               ? 'true'
               : `d.id in (${recentDeposits(watermarks)} union select unnest($4::text[]))`
           })
       select id, state = 'settled' as is_settled, asset, address, amount::text as amount, tx_hash, block_height, block_hash,
         outpoint = block_hash || ':' || address as by_balance
       from invoices.deposits d
       where chain = $1 and state in ('seen', 'settled')
         and (invoice_id, coalesce(tx_hash, outpoint)) in (select invoice_id, payment from looked_at)
       order by id`,
      // A payment on the development chain before this one may be settled on this one, by a payment that completes it.
      [name, scope.since ?? new Date(0), chain.since ?? new Date(0), suspectDeposits],
    ),
    costs: await trx.rows<{ tx_hash: string; amount: string }>(
      `select substr(op, length('network:') + 1) as tx_hash, amount::text as amount
       from ledger.transfers where kind = 'network' and asset = any($1) and (op = any($3)
         or ${watermarks === undefined ? 'true' : `seq > ${watermarks.transfers}`} and created_at >= $2)`,
      [
        symbols,
        since,
        [...transactions.map(({ tx_hash }) => tx_hash), ...suspectHashes].map((hash) => `network:${hash}`),
      ],
    ),
  };
}

/** A Bitcoin transaction uses UTXOs and an EVM transaction a nonce. On Solana nothing else can use its place. */
async function inputsOf(
  trx: Trx,
  kind: ChainKind,
  transactions: readonly TransactionRow[],
): Promise<ChainRecords['inputs']> {
  const replacementGroups = [...new Set(transactions.map(({ group_id }) => group_id))];
  switch (kind) {
    case 'bitcoin': {
      const rows = await trx.rows<{ group_id: string; outpoint: string }>(
        `select locked_by::text as group_id, outpoint from payouts.utxos
         where locked_by = any($1::bigint[]) and state = 'spent'`,
        [replacementGroups],
      );
      return rows.map(({ group_id, outpoint }) => ({ group_id, input: { outpoint } }));
    }
    case 'evm': {
      const rows = await trx.rows<{ group_id: string; wallet: string; nonce: string }>(
        `select replacement_group::text as group_id, wallet, nonce::text as nonce from payouts.transactions
         where id = any($1::bigint[]) and nonce is not null`,
        [replacementGroups],
      );
      return rows.map(({ group_id, wallet, nonce }) => ({
        group_id,
        input: { wallet, nonce: Number(nonce) }, // eslint-disable-line no-restricted-syntax -- a nonce counts transactions
      }));
    }
    case 'solana':
      return [];
  }
}
