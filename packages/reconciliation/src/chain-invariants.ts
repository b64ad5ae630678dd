import type { ChainSettings } from '@quittance/chains/settings';
import {
  type AssetSymbol,
  assets,
  assetsOf,
  type Chain,
  type ChainKind,
  chainKinds,
  nativeAsset,
} from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { reason } from '@quittance/shared/logger';
import { type Block, type ChainLook, type Claim, lookAt, type Payments, type Seen } from './chain-look.ts';
import { type Marks, onTheWay, recentDeposits, recentPayouts } from './invariants.ts';
import { type Place, SeenBalances } from './seen-balances.ts';

/** What must be true between the books and a chain, beside what holds within the books (invariants.ts). */
export const chainMeanings = {
  I4: 'a payout has exactly one confirmed transaction on its chain when mined, with exact address and amount, none when failed',
  I5: 'every deposit that is settled is on its chain, with exact address, asset and amount',
  I6: 'what lies on the chain covers what we owe, and what our transactions cost is booked as the chain says',
} as const;

export type ChainBreach = {
  invariant: keyof typeof chainMeanings;
  what: string;
  asset: AssetSymbol;
  /** Names it, and stays the same while money moves on around it. */
  subject: string;
  /** By how much, where that can grow. */
  amount?: bigint;
};

/** The node does not stand where the books stand: what it does not show may be there all the same. */
export class NodeElsewhere extends Error {
  override name = 'NodeElsewhere';
}

/** A chain and its node. */
export type WatchedChain = {
  settings: ChainSettings;
  /** What was before is not on this chain: a development chain that is new whenever its node starts. */
  since?: Date | undefined;
};

/** What the books say of a chain, all of one moment. */
export type Story = {
  payouts: PayoutRow[];
  /** Those that are settled, each with all that its transaction is said to have paid to its address. */
  deposits: DepositRow[];
  transactions: TransactionRow[];
  /** What those of them use up that may leave the chain for a while. */
  claims: { family: string; claim: Claim }[];
  costs: { tx_hash: string; amount: string }[];
  owed: { asset: AssetSymbol; amount: string }[];
  hot: string[];
  /** Deposits that were not swept, also those that payouts has not been told of yet. */
  held: { asset: AssetSymbol; address: string; amount: string; moving: boolean }[];
  coins: string[];
  /** What was credited, and then dropped by the chain: it may come back, and is written off when it does not. */
  dropped: { asset: AssetSymbol; amount: string }[];
  /** How far the chain was followed. */
  cursor: Block | undefined;
  height: number;
};
type PayoutRow = {
  id: string;
  status: string;
  asset: AssetSymbol;
  address: string;
  amount: string;
  family: string;
  /** The ledger still holds its money. */
  is_held: boolean;
};
type DepositRow = {
  id: string;
  is_settled: boolean;
  asset: AssetSymbol;
  address: string;
  amount: string;
  tx_hash: string | null;
  block_height: number;
  block_hash: string;
  /** A contract sent it: only the balance has shown it, and that it came with this block. */
  by_balance: boolean;
};
type TransactionRow = {
  family: string;
  tx_hash: string;
  state: string;
  purpose: string;
  asset: AssetSymbol;
  /** Its cost must have been booked by now. */
  cost_due: boolean;
  /** The chain may drop it yet, and then it is sent again. */
  may_leave: boolean;
};

const LOOKS_AT_ONCE = 8;

/** So many times the patience, a transaction that is mined and not final may be away: an hour, with a minute's. */
const AWAY_PATIENCES = 60;

/** Everything is read before a node is asked, so that what the node shows is never older than what the books say. */
export async function readStory(trx: Trx, chain: WatchedChain, limits: Limits): Promise<Story> {
  const { chain: name, kind } = chain.settings;
  const symbols = assetsOf(name);
  const since = new Date(Math.max(chain.since?.getTime() ?? 0, limits.since?.getTime() ?? 0));
  const { marks, patienceSeconds, suspects = [] } = limits;
  const suspectPayouts = suspects.flatMap((subject) => /^payout (\d+) chain/.exec(subject)?.[1] ?? []);
  const suspectDeposits = suspects.flatMap((subject) => /^deposit (\S+) chain/.exec(subject)?.[1] ?? []);
  const suspectHashes = suspects.flatMap((subject) => /^cost ([^ ,]+)/.exec(subject)?.[1] ?? []);
  const open = `select family from payouts.transactions where state in ('signed', 'broadcast')`;
  const families =
    marks === undefined
      ? 'true'
      : `family in (${open}
           union select family from payouts.transactions where state in ('mined', 'reverted') and final_at is null
           union select family from payouts.transactions where id > ${marks.transactions}
           union select family from payouts.payments where payout_id in (${recentPayouts(marks)}))`;
  const transactions = await trx.rows<TransactionRow>(
    `select family::text as family, tx_hash, state, purpose, asset,
            state in ('mined', 'reverted') and final_at < now() - $3::int * interval '1 second'
              and not exists (select 1 from (${onTheWay('network.spent', 'ledger')}) as w
                              where w.payload ->> 'tx_hash' = tx_hash) as cost_due,
            state in ('mined', 'reverted') and final_at is null
              and updated_at > now() - $3::int * ${AWAY_PATIENCES} * interval '1 second' as may_leave
     from payouts.transactions
     where chain = $1 and ((updated_at >= $2 or state in ('signed', 'broadcast')) and ${families}
       or family in (select family from payouts.payments where payout_id = any($4::bigint[])
                     union select family from payouts.transactions where tx_hash = any($5)))`,
    [name, since, patienceSeconds, suspectPayouts, suspectHashes],
  );
  const one = await trx.one<{ mined: string | null }>(
    `select max(block_height)::text as mined from payouts.transactions
     where chain = $1 and (state in ('signed', 'broadcast') or (state in ('mined', 'reverted') and final_at is null))`,
    [name],
  );
  const cursor = await trx.maybe<{ height: number; hash: string }>(
    'select height, hash from invoices.cursors where chain = $1',
    [name],
  );
  return {
    transactions,
    cursor,
    claims: await claimsOf(
      trx,
      kind,
      transactions.filter((one) => one.may_leave),
    ),
    // tidy-allow number: a height
    height: Math.max(cursor?.height ?? 0, Number(one.mined ?? 0)),
    payouts: await trx.rows<PayoutRow>(
      `select p.id::text as id, p.status, p.asset, m.address, m.amount::text as amount, m.family::text as family,
              h.payout_id is not null as is_held
       from payouts.payments m join payouts.payouts p on p.id = m.payout_id
       left join ledger.holds h on h.payout_id = p.id::text and h.state = 'placed'
       where m.family = any($1::bigint[]) and p.asset = any($2)`,
      [[...new Set(transactions.map(({ family }) => family))], symbols],
    ),
    deposits: await trx.rows<DepositRow>(
      `with looked_at as (
         select invoice_id, coalesce(tx_hash, outpoint) as payment from invoices.deposits d
         where chain = $1 and state = 'settled' and (settled_at >= $2 or id = any($4))
           and first_seen_at >= $3 and ${
             marks === undefined
               ? 'true'
               : `d.id in (${recentDeposits(marks)} union select unnest($4::text[]))`
           })
       select id, state = 'settled' as is_settled, asset, address, amount::text as amount, tx_hash, block_height, block_hash,
         outpoint = block_hash || ':' || address as by_balance
       from invoices.deposits d
       where chain = $1 and state in ('seen', 'settled')
         and (invoice_id, coalesce(tx_hash, outpoint)) in (select invoice_id, payment from looked_at)
       order by id`,
      // What was paid on the chain before this one may be settled on this one, with a payment that completes it.
      [name, limits.since ?? new Date(0), chain.since ?? new Date(0), suspectDeposits],
    ),
    costs: await trx.rows<{ tx_hash: string; amount: string }>(
      `select substr(op, length('network:') + 1) as tx_hash, amount::text as amount
       from ledger.transfers where kind = 'network' and asset = any($1) and (op = any($3)
         or ${marks === undefined ? 'true' : `seq > ${marks.transfers}`} and created_at >= $2)`,
      [
        symbols,
        since,
        [...transactions.map(({ tx_hash }) => tx_hash), ...suspectHashes].map((hash) => `network:${hash}`),
      ],
    ),
    // The fee of a payout that is under way pays for its transaction, which the chain may have taken already.
    owed: await trx.rows<{ asset: AssetSymbol; amount: string }>(
      `select asset, sum(amount)::text as amount from (
         select asset, available + held + unresolved as amount from ledger.balances
         union all
         select asset, -network_fee from ledger.holds where state = 'placed'
       ) as parts where asset = any($1) group by asset having sum(amount) > 0`,
      [symbols],
    ),
    hot: (
      await trx.rows<{ address: string }>(
        `select address from payouts.wallets where chain = $1 and role = 'hot'`,
        [name],
      )
    ).map(({ address }) => address),
    held: await trx.rows<Story['held'][number]>(
      `select asset, address, sum(amount)::text as amount, bool_or(moving) as moving from (
         select asset, address, amount, state = 'sweeping' as moving from payouts.holdings
         where chain = $1 and state <> 'swept' and reversed_at is null
         union all
         select payload ->> 'asset', ${kind === 'evm' ? `lower(payload ->> 'address')` : `payload ->> 'address'`},
           (payload ->> 'amount')::numeric, true
         from (${onTheWay('deposit.settled', 'payouts')}) as w where payload ->> 'asset' = any($2)
       ) as there group by asset, address`,
      [name, symbols],
    ),
    coins:
      kind === 'bitcoin'
        ? (
            await trx.rows<{ outpoint: string }>(
              `select outpoint from payouts.coins where chain = $1 and state <> 'spent' and reversed_at is null
               union select payload ->> 'outpoint' from (${onTheWay('deposit.settled', 'payouts')}) as w
               where payload ->> 'asset' = any($2)`,
              [name, symbols],
            )
          ).map(({ outpoint }) => outpoint)
        : [],
    dropped: await trx.rows<{ asset: AssetSymbol; amount: string }>(
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

/** Of a transaction on Bitcoin its coins, on EVM chains its nonce. On Solana none: nothing else can use its place. */
async function claimsOf(
  trx: Trx,
  kind: ChainKind,
  transactions: readonly TransactionRow[],
): Promise<Story['claims']> {
  const families = [...new Set(transactions.map(({ family }) => family))];
  switch (kind) {
    case 'bitcoin': {
      const rows = await trx.rows<{ family: string; outpoint: string }>(
        `select locked_by::text as family, outpoint from payouts.coins
         where locked_by = any($1::bigint[]) and state = 'spent'`,
        [families],
      );
      return rows.map(({ family, outpoint }) => ({ family, claim: { outpoint } }));
    }
    case 'evm': {
      const rows = await trx.rows<{ family: string; wallet: string; nonce: string }>(
        `select family::text as family, wallet, nonce::text as nonce from payouts.transactions
         where id = any($1::bigint[]) and nonce is not null`,
        [families],
      );
      return rows.map(({ family, wallet, nonce }) => ({
        family,
        claim: { wallet, nonce: Number(nonce) }, // tidy-allow number: a nonce counts transactions
      }));
    }
    case 'solana':
      return [];
  }
}

export type Limits = {
  /** What is younger may still be on its way from one service to the next. */
  patienceSeconds: number;
  /** What was before is not looked at again, but for the suspects. */
  since?: Date | undefined;
  /** Subjects of breaches that are known: looked at until they are right, however old. */
  suspects?: readonly string[] | undefined;
  /** Only what is newer than an earlier check, and what is still open. */
  marks?: Marks | undefined;
};

/**
 * Compares a story with the chain, through the first of its nodes that can be asked and stands where the books stand.
 * Throws when none does.
 */
export async function compareWithChain(
  story: Story,
  settings: ChainSettings,
  balances = new SeenBalances(),
): Promise<ChainBreach[]> {
  const troubles: unknown[] = [];
  for (const url of settings.rpcUrls) {
    const look = lookAt(settings, url.reveal());
    try {
      return await compareThrough(look, story, settings.chain, balances);
    } catch (error) {
      troubles.push(error);
    } finally {
      await look.close();
    }
  }
  const said = troubles.map(reason).join('; ');
  // A moment later a node that lags has caught up.
  const lags = troubles.some((error) => error instanceof NodeElsewhere);
  throw lags ? new NodeElsewhere(said, { cause: troubles }) : new Error(said, { cause: troubles });
}

/** What lies there first: the nearer to the moment of the story, the less has moved since. */
async function compareThrough(
  look: ChainLook,
  story: Story,
  chain: Chain,
  balances: SeenBalances,
): Promise<ChainBreach[]> {
  const at = await look.pin();
  if (at !== undefined && at.height < story.height)
    throw new NodeElsewhere(`it has not come to block ${story.height}`);
  await assertSamePlace(look, story);
  const seen = new Map<string, Seen>();
  const reserves = await compareReserves(story, seen, chain, look, balances);
  await lookInto(look, hashesOf(story), seen);
  const sure = await withoutLost(story, seen, look);
  const deposits = await compareDeposits(story, look);
  if (at === undefined) await assertSamePlace(look, story);
  else if ((await look.hashAt(at.height)) !== at.hash)
    throw new NodeElsewhere(`it has dropped block ${at.height} while it was asked`);
  return [...comparePayouts(sure, seen), ...deposits, ...compareCosts(sure, seen, chain), ...reserves];
}

/**
 * A transaction that was mined and is away may come back as long as it is not final. It cannot when the chain shows that
 * another one has used what it needs: then nothing is waited for.
 */
async function withoutLost(story: Story, seen: SeenByHash, look: ChainLook): Promise<Story> {
  const there = new Set(
    story.transactions.filter(({ tx_hash }) => seen.has(tx_hash)).map(({ family }) => family),
  );
  const lost = new Set<string>();
  await someAtOnce(
    story.claims.filter(({ family }) => !there.has(family)),
    async ({ family, claim }) => {
      if (await look.isTaken(claim)) lost.add(family);
    },
  );
  if (lost.size === 0) return story;
  return {
    ...story,
    transactions: story.transactions.map((one) =>
      lost.has(one.family) ? { ...one, may_leave: false } : one,
    ),
  };
}

/**
 * A node that lags has not seen what the books speak of, and one on another branch has seen something else: the chain is
 * reorganising, or this node is not of the same mind as those that the services ask.
 */
async function assertSamePlace(look: ChainLook, { cursor, height }: Story): Promise<void> {
  const hash = await look.hashAt(cursor?.height ?? 0);
  if (cursor !== undefined) {
    if (hash === undefined) throw new NodeElsewhere(`it has not come to block ${cursor.height}`);
    if (hash !== cursor.hash) throw new NodeElsewhere(`it has another block ${cursor.height}`);
  }
  // On Solana a height is a slot, which may have no block: that one stays what was seen in a block of it.
  if (height > (cursor?.height ?? 0) && (await look.hashAt(height)) === undefined) {
    throw new NodeElsewhere(`it has not come to block ${height}`);
  }
}

type SeenByHash = ReadonlyMap<string, Seen>;

const hashesOf = ({ transactions, costs }: Pick<Story, 'transactions' | 'costs'>): string[] =>
  [...transactions, ...costs].map(({ tx_hash }) => tx_hash);

/** Adds what is in the chain of these transactions; those that are there are not asked for again. */
async function lookInto(look: ChainLook, hashes: readonly string[], seen: Map<string, Seen>): Promise<void> {
  await someAtOnce(new Set(hashes.filter((hash) => !seen.has(hash))), async (hash) => {
    const found = await look.transaction(hash);
    if (found !== undefined) seen.set(hash, found);
  });
}

async function someAtOnce<T>(all: Iterable<T>, ask: (one: T) => Promise<unknown>): Promise<void> {
  const next = Iterator.from(all);
  const worker = async () => {
    for (const one of next) await ask(one);
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, worker));
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
  const mayLeave = new Set(transactions.filter((one) => one.may_leave).map(({ family }) => family));
  for (const payout of payouts) {
    const { id, asset } = payout;
    const breach = (what: string, amount?: bigint) =>
      breaches.push({
        invariant: 'I4',
        what,
        asset,
        subject: `payout ${id} chain`,
        ...(amount === undefined ? {} : { amount }),
      });
    const confirmed = confirmedOf(payout.family);
    const hashes = confirmed.map(({ hash }) => hash).join(', ');
    const [first] = confirmed;
    if (confirmed.length > 1)
      breach(`payout ${payout.id} has ${confirmed.length} transactions in the chain: ${hashes}`);
    if (payout.status === 'failed' && first !== undefined)
      breach(`payout ${payout.id} failed, and ${hashes} of it is in the chain`);
    if (payout.status !== 'mined') continue;
    if (first === undefined) {
      if (mayLeave.has(payout.family)) continue;
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
        paid - wanted,
      );
    }
  }
  return breaches;
}

/**
 * Each transaction that is said to have paid deposits is asked for once. Native money that a contract sent is in no
 * transaction that a node would show without tracing it: of such a deposit only its block must be in the chain, and
 * whether the money is there is seen in the sum of all (I6). Nothing is said of what the node has thrown away since, nor
 * of tokens that are not in the settings.
 */
async function compareDeposits({ deposits }: Story, look: ChainLook): Promise<ChainBreach[]> {
  const breaches: ChainBreach[] = [];
  const paid = deposits.filter(({ by_balance, asset }) => !by_balance && look.assets.has(asset));
  await someAtOnce(
    Map.groupBy(paid, ({ tx_hash }) => tx_hash),
    async ([hash, all]) => {
      const height = Math.max(...all.map(({ block_height }) => block_height));
      const payments = hash === null ? 'not in the chain' : await look.payments(hash, height);
      if (payments !== 'not kept') breaches.push(...comparePayments(all, payments));
    },
  );
  const sentByContracts = deposits.filter(({ by_balance, is_settled }) => by_balance && is_settled);
  await someAtOnce(sentByContracts, async (deposit) => {
    const { amount, block_height, block_hash } = deposit;
    if ((await look.hashAt(block_height)) !== block_hash)
      breaches.push(depositBreach(deposit, `its block ${block_hash} is not in the chain`, BigInt(amount)));
  });
  return breaches;
}

/** Of one transaction. Payments to one address are not told apart: their sum must be right, with what is not settled yet. */
function comparePayments(
  deposits: readonly DepositRow[],
  payments: Exclude<Payments, 'not kept'>,
): ChainBreach[] {
  const alike = Map.groupBy(deposits, ({ asset, address }) => `${asset} ${address}`);
  return [...alike.values()].flatMap((all): ChainBreach[] => {
    const deposit = all.find(({ is_settled }) => is_settled);
    if (deposit === undefined) return [];
    const { asset, address, tx_hash } = deposit;
    const booked = all.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    if (payments === 'not in the chain')
      return [depositBreach(deposit, `its transaction ${tx_hash} is not in the chain`, booked)];
    const paid = payments
      .filter((one) => one.asset === asset && one.address === address)
      .reduce((sum, { amount }) => sum + amount, 0n);
    if (paid === booked) return [];
    const what = `${tx_hash} pays ${paid} ${asset} to ${address}, not ${booked}`;
    return [depositBreach(deposit, what, booked - paid)];
  });
}

const depositBreach = ({ id, asset }: DepositRow, what: string, amount: bigint): ChainBreach => ({
  invariant: 'I5',
  what: `deposit ${id} is settled: ${what}`,
  asset,
  subject: `deposit ${id} chain`,
  amount,
});

function compareCosts({ transactions, costs }: Story, seen: SeenByHash, chain: Chain): ChainBreach[] {
  const breaches: ChainBreach[] = [];
  const breach = (hash: string, what: string, amount?: bigint) =>
    breaches.push({
      invariant: 'I6',
      what,
      asset: nativeAsset[chain],
      subject: `cost ${hash}`,
      ...(amount === undefined ? {} : { amount }),
    });
  const mayLeave = new Set(transactions.filter((one) => one.may_leave).map(({ tx_hash }) => tx_hash));
  const booked = new Map(costs.map(({ tx_hash, amount }) => [tx_hash, BigInt(amount)]));
  for (const [hash, amount] of booked) {
    const found = seen.get(hash);
    if (found === undefined) {
      if (!mayLeave.has(hash))
        breach(hash, `a cost of ${amount} is booked for ${hash}, which is not in the chain`, amount);
    } else if (found.cost !== amount)
      breach(hash, `${hash} cost ${found.cost} in the chain, ${amount} is booked`, amount - found.cost);
  }
  for (const { tx_hash, cost_due } of transactions) {
    if (cost_due && !booked.has(tx_hash)) breach(tx_hash, `what ${tx_hash} cost in the chain is not booked`);
  }
  return breaches;
}

async function compareReserves(
  story: Story,
  seen: Map<string, Seen>,
  chain: Chain,
  look: ChainLook,
  balances: SeenBalances,
): Promise<ChainBreach[]> {
  const { owed, hot, held, coins, dropped, payouts, transactions } = story;
  const places = new Map(owed.map(({ asset }) => [asset, placesOf(story, asset, chain)]));
  const first = new Map<AssetSymbol, bigint>();
  for (const [asset, all] of places) {
    first.set(asset, await lookAtPlaces(balances.toAsk(asset, all), asset, all, look, balances));
  }
  // Mined already, and the ledger holds its money still: gone from the chain, and not yet from what we owe.
  const payoutsHeld = payouts.filter(({ is_held }) => is_held);
  const familiesHeld = new Set(payoutsHeld.map(({ family }) => family));
  const sent = transactions.filter(({ family }) => familiesHeld.has(family));
  await lookInto(look, hashesOf({ transactions: sent, costs: [] }), seen);
  const paid = sent.filter(({ tx_hash }) => seen.get(tx_hash)?.succeeded === true);
  const gone = new Set(paid.map(({ family }) => family));
  const leaving = payoutsHeld.filter(({ family }) => gone.has(family));
  const sumOf = (rows: readonly { asset: AssetSymbol; amount: string }[], asset: AssetSymbol) =>
    rows.filter((row) => row.asset === asset).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const breaches: ChainBreach[] = [];
  const backing = new Map<AssetSymbol, { owed: bigint; there: bigint }>();
  for (const { asset, amount } of owed) {
    const all = places.get(asset) ?? [];
    const expected = sumOf(leaving, asset) + sumOf(dropped, asset);
    let lies = first.get(asset) ?? 0n;
    // What was remembered of some may be wrong: nothing is said to be missing before all were asked.
    if (BigInt(amount) > lies + expected) lies = await lookAtPlaces(all, asset, all, look, balances);
    const short = BigInt(amount) - lies - expected;
    backing.set(asset, { owed: BigInt(amount), there: lies + expected });
    if (short <= 0n) continue;
    const { decimals } = assets[asset];
    const addresses = held.filter((one) => one.asset === asset);
    breaches.push({
      invariant: 'I6',
      asset,
      subject: `${asset} is short`,
      amount: short,
      what:
        `${asset} is short of ${short}: ${amount} is owed, ${lies + expected} lies on ${chain} ` +
        `(units of 10^-${decimals}; ${addresses.length} deposit addresses, ${coins.length} coins, ${hot.length} hot wallets)`,
    });
  }
  balances.backing = backing;
  return breaches;
}

function placesOf({ coins, hot, held }: Story, asset: AssetSymbol, chain: Chain): Place[] {
  if (chainKinds[chain] === 'bitcoin') return coins.map((at) => ({ at, amount: '', moving: true }));
  return [
    ...hot.map((at) => ({ at, amount: '', moving: true })),
    ...held
      .filter((one) => one.asset === asset && !hot.includes(one.address))
      .map(({ address, amount, moving }) => ({ at: address, amount, moving })),
  ];
}

async function lookAtPlaces(
  asked: readonly Place[],
  asset: AssetSymbol,
  all: readonly Place[],
  look: ChainLook,
  balances: SeenBalances,
): Promise<bigint> {
  const amounts = await look.reserves(
    asset,
    asked.map(({ at }) => at),
  );
  balances.note(asset, asked, amounts);
  balances.keepOnly(asset, all);
  return balances.sum(asset, all);
}
