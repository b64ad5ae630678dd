import { type AssetSymbol, assetsOf, type Chain, type ChainKind } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';

/** Which of the addresses that were given out are looked at: all, or some in their order and those under suspicion. */
export type AddressScope = 'all' | { after: string; limit: number };

/** Addresses that were given out, and what is booked as lying there. */
export type GivenAddresses = {
  /** In their order, without those under suspicion. */
  inTurn: string[];
  addresses: string[];
  /** Payments that are in the chain by the records, and are not swept. `moving`: a sweep is on its way. */
  booked: { asset: AssetSymbol; address: string; amount: string; moving: boolean }[];
  /** What sweeps of native money may have left there: a fee is reserved before it is known. */
  left: { address: string; amount: string }[];
  /** Less than this is nothing that somebody is owed. */
  dust: { asset: AssetSymbol; amount: string }[];
};

/** Deposits at these addresses that are in the chain by the records. There is no index by address. */
const depositsThere = `invoices.addresses a
  join invoices.deposits d on d.invoice_id = a.invoice_id and d.address = a.address and d.chain = a.chain
    and a.chain = $1 and a.address = any($2) and d.state in ('seen', 'settled')`;
const bookedOnAccounts = `
  select d.asset, d.address, coalesce(sum(d.amount) filter (where u.state is distinct from 'swept'), 0)::text as amount,
    bool_or(u.state is not distinct from 'sweeping') as moving
  from ${depositsThere} left join payouts.unswept_deposits u on u.deposit_id = d.id group by d.asset, d.address`;
/** A UTXO that a transaction of ours spends is there until that one is in a block. */
const bookedOnBitcoin = `
  select 'BTC' as asset, address, sum(amount)::text as amount, bool_or(moving) as moving from (
    select address, amount, state <> 'available' as moving from payouts.utxos
    where chain = $1 and state <> 'spent' and reversed_at is null and address = any($2)
    union all
    select d.address, d.amount, false from ${depositsThere}
    where not exists (select from payouts.utxos u where u.outpoint = d.outpoint)
  ) as there group by address`;

/** The address that a discrepancy is of; undefined of one that is of something else. */
export const addressNamed = (subject: string): string | undefined => /^address (\S+) /.exec(subject)?.[1];

export async function readGivenAddresses(
  trx: Trx,
  { name, kind }: { name: Chain; kind: ChainKind },
  scope: AddressScope,
  suspects: readonly string[],
): Promise<GivenAddresses> {
  const { after, limit } = scope === 'all' ? { after: '', limit: null } : scope;
  const given = await trx.rows<{ address: string }>(
    'select address from invoices.addresses where chain = $1 and address > $2 order by address limit $3',
    [name, after, limit],
  );
  const inTurn = given.map(({ address }) => address);
  const suspected = suspects.flatMap((subject) => addressNamed(subject) ?? []);
  const addresses = [...new Set([...inTurn, ...suspected])];
  const found = [name, addresses];
  return {
    inTurn,
    addresses,
    booked: await trx.rows<GivenAddresses['booked'][number]>(
      kind === 'bitcoin' ? bookedOnBitcoin : bookedOnAccounts,
      found,
    ),
    left: await trx.rows<GivenAddresses['left'][number]>(
      `select swept_address as address, sum(max_cost)::text as amount from payouts.transactions
       where chain = $1 and purpose = 'sweep' and state in ('mined', 'reverted') and swept_address = any($2)
       group by swept_address`,
      found,
    ),
    dust: await trx.rows<GivenAddresses['dust'][number]>(
      'select symbol as asset, dust::text as amount from ledger.assets where symbol = any($1)',
      [assetsOf(name)],
    ),
  };
}
