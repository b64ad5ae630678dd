import type { ChainSettings } from '@quittance/chains/settings';
import { type AssetSymbol, assets, assetsOf, type Chain } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { type ChainLook, lookAt, type Places, type Seen } from './chain-look.ts';

/** What must be true between the books and a chain, beside what holds within the books (invariants.ts). */
export const chainMeanings = {
  I4: 'a payout has exactly one confirmed transaction on its chain when mined, with exact address and amount, none when failed',
  I6: 'what lies on the chain covers what we owe, and what our transactions cost is booked as the chain says',
} as const;

export type ChainBreach = { invariant: keyof typeof chainMeanings; what: string };

/** A chain and its node. */
export type WatchedChain = {
  settings: ChainSettings;
  /** What was before is not on this chain: a development chain that is new whenever its node starts. */
  since?: Date | undefined;
};

/** What the books say of a chain, all of one moment. */
type Story = {
  payouts: PayoutRow[];
  transactions: TransactionRow[];
  costs: { tx_hash: string; amount: string }[];
  owed: { asset: AssetSymbol; amount: string }[];
  hot: string[];
  held: { asset: AssetSymbol; address: string }[];
  coins: string[];
};
type PayoutRow = {
  id: string;
  status: string;
  asset: AssetSymbol;
  address: string;
  amount: string;
  family: string;
};
type TransactionRow = {
  family: string;
  tx_hash: string;
  state: string;
  purpose: string;
  /** Its cost must have been booked by now. */
  cost_due: boolean;
};

const LOOKS_AT_ONCE = 8;

/** Everything is read before a node is asked, so that what the node shows is never older than what the books say. */
export async function readStory(trx: Trx, chain: WatchedChain, limits: Limits): Promise<Story> {
  const name = chain.settings.chain;
  const symbols = assetsOf(name);
  const since = new Date(Math.max(chain.since?.getTime() ?? 0, limits.since?.getTime() ?? 0));
  return {
    payouts: await trx.rows<PayoutRow>(
      `select p.id::text as id, p.status, p.asset, m.address, m.amount::text as amount, m.family::text as family
       from payouts.payouts p join payouts.payments m on m.payout_id = p.id
       where p.asset = any($1) and p.updated_at >= $2`,
      [symbols, since],
    ),
    transactions: await trx.rows<TransactionRow>(
      `select family::text as family, tx_hash, state, purpose,
              state in ('mined', 'reverted') and final_at < now() - $3::int * interval '1 second' as cost_due
       from payouts.transactions where chain = $1 and updated_at >= $2`,
      [name, since, limits.patienceSeconds],
    ),
    costs: await trx.rows<{ tx_hash: string; amount: string }>(
      `select substr(op, length('network:') + 1) as tx_hash, amount::text as amount
       from ledger.transfers where kind = 'network' and asset = any($1) and created_at >= $2`,
      [symbols, since],
    ),
    owed: await trx.rows<{ asset: AssetSymbol; amount: string }>(
      `select asset, sum(available + held + unresolved)::text as amount from ledger.balances
       where asset = any($1) group by asset having sum(available + held + unresolved) > 0`,
      [symbols],
    ),
    hot: (
      await trx.rows<{ address: string }>(
        `select address from payouts.wallets where chain = $1 and role = 'hot'`,
        [name],
      )
    ).map(({ address }) => address),
    held: await trx.rows<{ asset: AssetSymbol; address: string }>(
      `select distinct asset, address from payouts.holdings
       where chain = $1 and state <> 'swept' and reversed_at is null`,
      [name],
    ),
    coins:
      chain.settings.kind === 'bitcoin'
        ? (
            await trx.rows<{ outpoint: string }>(
              `select outpoint from payouts.coins where chain = $1 and state <> 'spent' and reversed_at is null`,
              [name],
            )
          ).map(({ outpoint }) => outpoint)
        : [],
  };
}

export type Limits = {
  /** What is younger may still be on its way from one service to the next. */
  patienceSeconds: number;
  /** What was before is not looked at again. */
  since?: Date | undefined;
};

/** Compares a story with the chain. Throws when the node cannot be asked. */
export async function compareWithChain(story: Story, settings: ChainSettings): Promise<ChainBreach[]> {
  const look = lookAt(settings);
  try {
    const seen = await lookAtAll(look, story);
    return [
      ...comparePayouts(story, seen),
      ...compareCosts(story, seen),
      ...(await compareReserves(story, seen, settings.chain, look)),
    ];
  } finally {
    await look.close();
  }
}

type SeenByHash = ReadonlyMap<string, Seen>;

async function lookAtAll(look: ChainLook, { transactions, costs }: Story): Promise<SeenByHash> {
  const hashes = [...new Set([...transactions, ...costs].map(({ tx_hash }) => tx_hash))];
  const seen = new Map<string, Seen>();
  const next = hashes.values();
  const worker = async () => {
    for (const hash of next) {
      const found = await look.transaction(hash);
      if (found !== undefined) seen.set(hash, found);
    }
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, worker));
  return seen;
}

function comparePayouts({ payouts, transactions }: Story, seen: SeenByHash): ChainBreach[] {
  const families = Map.groupBy(transactions, ({ family }) => family);
  const payoutsOf = Map.groupBy(payouts, ({ family }) => family);
  const confirmedOf = (family: string) =>
    (families.get(family) ?? []).flatMap(({ tx_hash }) => {
      const found = seen.get(tx_hash);
      return found?.succeeded === true ? [{ hash: tx_hash, ...found }] : [];
    });
  const breaches: ChainBreach[] = [];
  const breach = (what: string) => breaches.push({ invariant: 'I4', what });
  for (const payout of payouts) {
    const confirmed = confirmedOf(payout.family);
    const hashes = confirmed.map(({ hash }) => hash).join(', ');
    const [first] = confirmed;
    if (confirmed.length > 1)
      breach(`payout ${payout.id} has ${confirmed.length} transactions in the chain: ${hashes}`);
    if (payout.status === 'failed' && first !== undefined)
      breach(`payout ${payout.id} failed, and ${hashes} of it is in the chain`);
    if (payout.status !== 'mined') continue;
    if (first === undefined) {
      breach(`payout ${payout.id} is mined, and no transaction of it is in the chain`);
      continue;
    }
    // Payouts of one transaction to one address cannot be told apart there: their sum must be right.
    const alike = (payoutsOf.get(payout.family) ?? []).filter(
      ({ address, asset }) => address === payout.address && asset === payout.asset,
    );
    const wanted = alike.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    const paid = first.paid
      .filter(({ asset, address }) => asset === payout.asset && address === payout.address)
      .reduce((sum, { amount }) => sum + amount, 0n);
    if (paid !== wanted) {
      breach(
        `payout ${payout.id}: ${first.hash} pays ${paid} ${payout.asset} to ${payout.address}, not ${wanted}`,
      );
    }
  }
  return breaches;
}

function compareCosts({ transactions, costs }: Story, seen: SeenByHash): ChainBreach[] {
  const breaches: ChainBreach[] = [];
  const breach = (what: string) => breaches.push({ invariant: 'I6', what });
  const booked = new Map(costs.map(({ tx_hash, amount }) => [tx_hash, BigInt(amount)]));
  for (const [hash, amount] of booked) {
    const found = seen.get(hash);
    if (found === undefined) breach(`a cost of ${amount} is booked for ${hash}, which is not in the chain`);
    else if (found.cost !== amount) breach(`${hash} cost ${found.cost} in the chain, ${amount} is booked`);
  }
  for (const { tx_hash, cost_due } of transactions) {
    if (cost_due && !booked.has(tx_hash)) breach(`what ${tx_hash} cost in the chain is not booked`);
  }
  return breaches;
}

async function compareReserves(
  { owed, hot, held, coins, payouts, transactions }: Story,
  seen: SeenByHash,
  chain: Chain,
  look: ChainLook,
): Promise<ChainBreach[]> {
  const breaches: ChainBreach[] = [];
  const gone = new Set(transactions.filter((one) => seen.has(one.tx_hash)).map(({ family }) => family));
  for (const { asset, amount } of owed) {
    const addresses = held.filter((one) => one.asset === asset).map(({ address }) => address);
    const places: Places = { addresses: [...new Set([...hot, ...addresses])], coins };
    // Mined a moment ago and not booked yet: gone from the chain's money, and still in what we owe.
    const leaving = payouts
      .filter(
        (payout) =>
          payout.asset === asset &&
          (payout.status === 'signed' || payout.status === 'broadcast') &&
          gone.has(payout.family),
      )
      .reduce((sum, payout) => sum + BigInt(payout.amount), 0n);
    const lies = await look.reserves(asset, places);
    const short = BigInt(amount) - lies - leaving;
    if (short > 0n) {
      const { decimals } = assets[asset];
      breaches.push({
        invariant: 'I6',
        what:
          `${asset} is short of ${short}: ${amount} is owed, ${lies + leaving} lies on ${chain} ` +
          `(units of 10^-${decimals}; ${addresses.length} deposit addresses, ${coins.length} coins, ${hot.length} hot wallets)`,
      });
    }
  }
  return breaches;
}
