import { setTimeout as sleep } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { putBetween } from '@quittance/testkit/between';
import { eventually } from '@quittance/testkit/eventually';
import { startFaultProxy } from '@quittance/testkit/fault-proxy';
import { patient } from '@quittance/testkit/patience';
import type { Quittance } from '@quittance/testkit/quittance';
import { leaving, losing, lying, type Nodes, onTheWay, type Pair, type Strike } from './chain-strikes.ts';
import { bitcoinProtocol } from './divergent-bitcoin.ts';
import { evmProtocol } from './divergent-evm.ts';
import { startDivergentNode } from './divergent-node.ts';
import { solanaProtocol } from './divergent-solana.ts';
import { expectAllHarmless, expectTrueWords } from './expect-harmless.ts';
import { faultsOfTheDay, sized } from './size.ts';
import { goThrough, type Met, underLoad } from './under-load.ts';

/**
 * Whatever becomes of a chain's nodes, merchants are served, nothing is guessed, and in the end every payout is one
 * transaction and every payment one credit. Two nodes stand for each chain, which have to agree; all chains are struck
 * at once.
 */
const FAULT_MS = sized(1_500, 600_000);
const STORM_MS = sized(2_000, 120_000);
const HEALS_WITHIN_MS = 60_000;
/** A fault that strikes what is asked seldom lasts until it has struck, and a blind one until much could have been said. */
const STRIKES_WITHIN_MS = 60_000;
const BLOCKS_UNSEEN = 6;
/**
 * More often, and a busy machine reads two nodes more slowly than the chain grows. In ten minutes these are 300 blocks, two
 * days of Bitcoin, which are caught up on in the minute after which all is as before.
 */
const BLOCK_EVERY_MS = sized(1_000, 2_000);
/**
 * At the usual pace two nodes and what stands before them would be busy with questions alone. With ten slots a second a busy
 * machine scanned Solana more slowly than it grew, and was minutes behind in the end; with four, a slow and busy one. These are
 * as many as Solana has.
 */
const PACE = {
  solanaSlotMs: 400,
  settings: { invoices: { SCAN_EVERY_MS: '400' }, payouts: { PAYOUTS_EVERY_MS: '400' } },
};
const followers = ['invoices', 'payouts'] as const;

jest.setTimeout(patient(FAULT_MS + STRIKES_WITHIN_MS + 4 * HEALS_WITHIN_MS));

const known: readonly Nodes[] = [
  {
    chain: 'ethereum',
    asset: 'ETH',
    protocol: evmProtocol,
    questions: [
      'eth_getBlockByNumber',
      'eth_getTransactionReceipt',
      'eth_getTransactionCount',
      'eth_getBlockReceipts',
      'eth_getLogs',
    ],
  },
  {
    chain: 'bitcoin',
    asset: 'BTC',
    protocol: bitcoinProtocol,
    questions: ['getblockcount', 'getindexinfo', 'getrawtransaction'],
  },
  {
    chain: 'solana',
    asset: 'SOL',
    protocol: solanaProtocol,
    questions: ['getSlot', 'getBlock', 'getSignatureStatuses', 'getLatestBlockhash'],
  },
];

const on = underLoad({
  options: { fixedFees: true, ...PACE },
  async between(quittance) {
    const pairs: Pair[] = [];
    for (const one of known) pairs.push(await pairOf(quittance, one));
    await putBetween(
      quittance,
      pairs.flatMap(({ chain, ways }) =>
        followers.map((service) => ({
          service,
          setting: `${chain.toUpperCase()}_RPC_URL`,
          through: () => ways.map(({ url }) => url).join(','),
        })),
      ),
    );
    return pairs;
  },
  load: {
    assets: known.map(({ asset }) => asset),
    clients: known.length,
    pauseMs: 1_000,
    // What was asked for in ten minutes without a chain would take longer than the minute after which all is as before.
    mostOpen: 3 * known.length,
    blockEveryMs: BLOCK_EVERY_MS,
  },
  async close(pairs) {
    for (const { nodes, ways } of pairs) {
      for (const way of ways) await way.close();
      for (const node of nodes) await node.close();
    }
  },
});

async function pairOf({ stack }: Quittance, one: Nodes): Promise<Pair> {
  const node = stack.nodes[one.chain];
  if (node === undefined) throw new Error(`this stack has no node of ${one.chain}`);
  const nodes: Pair['nodes'] = [
    await startDivergentNode(node.rpc, one.protocol),
    await startDivergentNode(node.rpc, one.protocol),
  ];
  const ways: Pair['ways'] = [
    await startFaultProxy(nodes[0].url, 19),
    await startFaultProxy(nodes[1].url, 23),
  ];
  return { ...one, nodes, ways };
}

type ChainFault = Strike & {
  fault: string;
  ms?: number;
  met?: NonNullable<Met['met']>;
  /**
   * Nothing new can be known of the chains meanwhile, because no node tells it, or because from now on each has blocks
   * of its own: nothing that they show since may be called final.
   */
  blind?: Blindness;
};
type Blindness = 'untold' | 'diverging';
const FAILED = /"level":"(?:warn|error)"/;

const faults: ChainFault[] = [
  { fault: 'a node down', ...onTheWay([0], { kind: 'refuse' }), met: followers, blind: 'untold' },
  { fault: 'both nodes down', ...onTheWay([0, 1], { kind: 'refuse' }), met: followers, blind: 'untold' },
  { fault: 'a node in a black hole', ...onTheWay([0], { kind: 'black hole' }), blind: 'untold' },
  { fault: 'the second node lags', ...leaving('lag'), blind: 'untold' },
  { fault: 'a node 150 ms late', ...onTheWay([0], { kind: 'latency', ms: 150 }), ms: STORM_MS },
  {
    fault: 'answers of a node in drops',
    ...onTheWay([1], { kind: 'drip', bytes: 512, everyMs: 2 }),
    ms: STORM_MS,
  },
  {
    fault: 'answers of a node cut off',
    ...onTheWay([0], { kind: 'reset', afterBytes: 5_000 }),
    ms: STORM_MS,
    met: followers,
  },
  {
    fault: 'connections to a node half-closed',
    ...onTheWay([0], { kind: 'half-close', afterBytes: 5_000 }),
    ms: STORM_MS,
    met: followers,
  },
  { fault: 'the answer lost: transactions that were taken', ...losing },
  { fault: 'refused though it was taken', ...lying('refuse') },
  { fault: 'evicted from all pools, and mined later', ...lying('evict') },
  {
    fault: 'the nodes disagree about the newest blocks',
    ...leaving('diverge'),
    met: ['invoices'],
    blind: 'diverging',
  },
];

test.each(faultsOfTheDay(faults))(
  '$fault: nobody is told what is not known',
  ({ fault, begin, end, ms = FAULT_MS, fired, met = [], blind }) =>
    expectAllHarmless(
      'chain node',
      known.map(({ chain }) => `${chain}: ${fault}`),
      async (found) => {
        const pairs = on.between;
        const struck = {
          fault,
          ms,
          met,
          begin: () => Promise.all(pairs.map(begin)),
          fired: () => pairs.map(fired),
          async end() {
            for (const pair of pairs) await end(pair);
          },
        };
        await goThrough(on, found, struck, {
          lastsMs: FAULT_MS,
          says: FAILED,
          async during() {
            const seen = blind && (await heights(blind));
            await sleep(ms);
            await eventually(() => {
              for (const pair of pairs) if (fired(pair) === 0) throw new Error(`${pair.chain} met no fault`);
            }, STRIKES_WITHIN_MS);
            if (!blind || !seen) return;
            await grown(seen);
            const unseen = await finalBeyond(seen, blind);
            for (const { violations } of found) violations.push(...unseen);
          },
          healsWithinMs: HEALS_WITHIN_MS,
          healed: moneyMoves,
        });
      },
    ),
);

/**
 * How far each chain has come, as far as that can be told: on Solana only what is finalized is told, and the blocks that
 * nodes have in common when they part are finalized afterwards.
 */
const heights = (blind: Blindness): Promise<{ chain: string; height: number }[]> =>
  Promise.all(
    on.between.map(async ({ chain, nodes }) => {
      const { at, final } = nodes[1].left() ?? (await nodes[0].heights());
      return { chain, height: chain === 'solana' && blind === 'untold' ? final : at };
    }),
  );

type Seen = Awaited<ReturnType<typeof heights>>;

/** Waits until each chain has told so many more blocks that what was in the next one could be called final. */
const grown = (seen: Seen): Promise<void> =>
  eventually(async () => {
    for (const [i, { chain, nodes }] of on.between.entries()) {
      const { at, final } = await nodes[0].heights();
      const height = chain === 'solana' ? final : at;
      if (height < (seen[i]?.height ?? 0) + BLOCKS_UNSEEN) throw new Error(`${chain} is at ${height}`);
    }
  }, STRIKES_WITHIN_MS);

/**
 * What was called final though the blocks that make it so came after what could be seen. Where nodes diverge each
 * has blocks of its own on those that they have in common, and those are what counts for what the common ones hold.
 */
async function finalBeyond(seen: Seen, blind: Blindness): Promise<string[]> {
  const rows = await on.quittance.db.rows<{ what: string }>(
    `with seen as (select * from unnest($1::text[], $2::bigint[]) as s(chain, height))
     select 'deposit ' || id || ' on ' || chain || ' was called final unseen' as what
     from invoices.deposits join seen s using (chain)
     where settled_at is not null and block_height + min_confirmations - 1 > s.height
     union all
     select 'transaction ' || id || ' on ' || chain || ' was called final unseen'
     from payouts.transactions join seen s using (chain)
     where state = 'mined' and block_height + (case when $3 then 0 else min_confirmations - 1 end) > s.height`,
    [seen.map(({ chain }) => chain), seen.map(({ height }) => height), blind === 'diverging'],
  );
  return rows.map(({ what }) => what);
}

/** Waits until on each chain a payment that came since is credited, and a payout asked for since is mined. */
async function moneyMoves(_ended: Date, isWell: (row: number) => void): Promise<void> {
  const { at } = await on.quittance.db.one<{ at: Date }>('select clock_timestamp() as at');
  await Promise.all(
    on.between.map(async (pair, i) => {
      await eventually(() => expectMoneyMoved(pair, at), HEALS_WITHIN_MS);
      isWell(i);
    }),
  );
}

async function expectMoneyMoved({ chain, asset, nodes }: Pair, since: Date): Promise<void> {
  const { credited, paid, scanned } = await on.quittance.db.one<
    Record<'credited' | 'paid', boolean> & { scanned: number }
  >(
    `select exists (select 1 from invoices.deposits where asset = $2 and first_seen_at > $1
                    and settled_at is not null) as credited,
            exists (select 1 from payouts.payouts where asset = $2 and created_at > $1
                    and status = 'mined') as paid,
            (select height from invoices.cursors where chain = $3) as scanned`,
    [since, asset, chain],
  );
  const lacks = [...(credited ? [] : ['payment is credited']), ...(paid ? [] : ['payout is mined'])];
  if (lacks.length === 0) return;
  const { at: height } = await nodes[0].heights();
  const what = `no ${asset} ${lacks.join(' and no ')}; ${chain} is at ${height} and scanned up to ${scanned}`;
  throw new Error([what, JSON.stringify(on.load.counts()), ...on.load.complaints()].join('; '));
}

test('in the end every payout is one transaction and every payment one credit', async () => {
  const { refused } = await expectTrueWords('chain node', on.load);
  // A chain that cannot be seen is no reason to refuse a payout.
  expect(refused).toBe(0);
});
