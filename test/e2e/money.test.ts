import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet } from '@quittance/chains/evm/wallet';
import { freePort } from '@quittance/engines/free-port';
import { assets, type Chain } from '@quittance/shared/assets';
import { services } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { patient, STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { runServiceMain } from '@quittance/testkit/service-main';
import { batchAndAutomaticPayout } from './money-batches.ts';
import { type Asset, fixture, LATE_MS, matrix, sale, scenarios } from './money-scenarios.ts';
import { seeded } from './seeded-discrepancies.ts';
import { quittanceCommand } from './shop/on-stack.ts';

/**
 * Every way that money comes and goes, for each asset on its real node, from the API in to the chain and back. All
 * go side by side on one stack, each with a merchant of its own; a test waits for its own.
 */

const BLOCK_EVERY_MS = 500;
const MINUTE_MS = 60_000;
const AT_ONCE_PER_ASSET = 2;
const LIMIT_MS = patient(3 * MINUTE_MS);
jest.setTimeout(LIMIT_MS);

let quittance: Quittance;
let clock: NodeJS.Timeout;
const running = new Map<string, Promise<void>>();
/** The chains whose blocks come by themselves, as they do on the networks; a node that is away makes none. */
const mining = new Set<Chain>();

const outages = ['BTC', 'USDC_ERC20', 'SOL'] as const;

/** The node is away while money is on its way in and out; everything ends when it is back. */
async function outage(asset: Asset): Promise<void> {
  const at = await fixture(quittance, asset);
  const came = await sale(at, asset, 100);
  const made = await at.invoice(30);
  const to = await at.customer.newAddress();
  const node = nodeOf(asset);
  const { chain } = assets[asset];
  mining.delete(chain);
  try {
    // What only waits in a node's pool may be lost with it; a block is not.
    await at.pay(made, made.amount);
    await at.customer.mine();
    // Solana goes on by itself: on a slow machine the payment may be final before anybody looks.
    await at.becomes(made.id, {
      status: chain === 'solana' ? expect.stringMatching(/^(confirmed|paid)$/) : 'confirmed',
    });
    await node.away();
    const { id } = await at.payout(came / 4n, to);
    expect(await at.status(id)).toBe('pending');
    await node.back();
    mining.add(chain);
    // As long as what comes late: a minute is little beside other suites, when the node has to be read again from the start.
    await at.becomes(made.id, { status: 'paid', paid_amount: made.amount }, LATE_MS);
    await at.tells(made.id, ['invoice.created', 'invoice.confirmed', 'invoice.paid']);
    await at.mined(id);
    await at.arrived(to, came / 4n);
  } finally {
    await node.back();
    mining.add(chain);
  }
}

/**
 * Bitcoin's is killed, Ethereum's stopped in order (it writes its chain then); Solana's has no memory and is paused.
 * A killed process may still have its pid when it is to come back, so the pid does not tell whether it has to.
 */
function nodeOf(asset: Asset): { away(): Promise<void> | void; back(): Promise<void> | void } {
  const { ethereum, bitcoin, solana } = quittance.stack.engines;
  const { chain } = assets[asset];
  if (chain === 'solana') return { away: () => solana?.pause(), back: () => solana?.resume() };
  let isAway = false;
  return {
    away() {
      isAway = true;
      return chain === 'bitcoin' ? bitcoin?.kill() : ethereum.stop();
    },
    async back() {
      if (!isAway) return;
      await (chain === 'bitcoin' ? bitcoin : ethereum)?.restart();
      isAway = false;
    },
  };
}

function start(name: string, played: Promise<void>): void {
  // Its test waits for it, maybe later than it fails.
  played.catch(() => undefined);
  running.set(name, played);
}

function mineByTheClock(): void {
  let working = false;
  mining.add('bitcoin').add('ethereum');
  clock = setInterval(() => {
    if (working) return;
    working = true;
    const { ethereum, bitcoin } = quittance;
    const nodes = [
      ...(mining.has('ethereum') ? [ethereum] : []),
      ...(mining.has('bitcoin') ? [bitcoin] : []),
    ];
    void Promise.allSettled(nodes.map((node) => node.mine())).then(() => {
      working = false;
    });
  }, BLOCK_EVERY_MS);
}

beforeAll(async () => {
  quittance = await startQuittance({ confirmations: 3, together: services });
  mineByTheClock();
  for (const asset of matrix) {
    // So many at once are as many as two cores carry out in time.
    const queues = Array.from({ length: AT_ONCE_PER_ASSET }, () => Promise.resolve());
    for (const [i, [name, play]] of Object.entries(scenarios).entries()) {
      const queue = i % AT_ONCE_PER_ASSET;
      const played = (queues[queue] ?? Promise.resolve()).then(async () =>
        play(await fixture(quittance, asset), asset),
      );
      start(`${asset} ${name}`, played);
      // The next begins also after one that has failed, which its own test tells.
      queues[queue] = played.catch(() => undefined);
    }
  }
  start('batch', batchAndAutomaticPayout(quittance));
}, STACK_STARTED_WITHIN_MS);
afterAll(async () => {
  clearInterval(clock);
  await quittance?.stop();
});

test.each(matrix.flatMap((asset) => Object.keys(scenarios).map((name) => [asset, name] as const)))(
  '%s: %s',
  async (asset, name) => {
    await expect(running.get(`${asset} ${name}`)).resolves.toBeUndefined();
  },
  LIMIT_MS,
);

test(
  'BTC: of a batch of 200 payouts the 199 right ones are mined, and a rule pays out the rest of the balance',
  async () => {
    await expect(running.get('batch')).resolves.toBeUndefined();
  },
  LIMIT_MS,
);

test(
  'every invariant holds, and the ledger agrees with every chain',
  async () => {
    await Promise.allSettled(running.values());
    await eventually(async () => expect((await quittance.books()).discrepancies).toEqual([]), MINUTE_MS, 500);
  },
  LIMIT_MS,
);

test.each(outages)(
  '%s: the node is away and comes back',
  async (asset) => {
    // Side by side, as all that goes before.
    if (!running.has(`${asset} outage`)) for (const one of outages) start(`${one} outage`, outage(one));
    await expect(running.get(`${asset} outage`)).resolves.toBeUndefined();
    await Promise.allSettled(running.values());
    await eventually(async () => expect((await quittance.books()).discrepancies).toEqual([]), MINUTE_MS, 500);
  },
  LIMIT_MS,
);

/** As an operator runs it, with the settings that payouts has. */
const verifyBooks = () =>
  quittanceCommand(quittance, { DATABASE_URL_ADMIN: quittance.stack.adminUrl }, [
    'verify-books',
    '--grace-period',
    '0',
  ]);

const change = async (statements: readonly string[], asset: Asset) => {
  for (const sql of statements) await quittance.db.rows(sql, [asset]);
};

test(
  'each discrepancy that is planted is named, and verify-books names them all and ends with 1',
  async () => {
    await eventually(async () => expect(await verifyBooks()).toMatchObject({ code: 0 }), 2 * MINUTE_MS);
    for (const [what, asset, seed, repair, named] of seeded) {
      await change(seed, asset);
      const { discrepancies } = await quittance.books();
      await change(repair, asset);
      const found = discrepancies
        .map((discrepancy) => `(${discrepancy.invariant}): ${discrepancy.what}`)
        .join('\n');
      expect([what, found]).toEqual([what, expect.stringMatching(named)]);
    }
    for (const [, asset, seed] of seeded) await change(seed, asset);
    const { code, out, err } = await verifyBooks();
    for (const [, asset, , repair] of seeded) await change(repair, asset);
    expect(code).toBe(1);
    for (const [what, , , , named] of seeded)
      expect([what, out + err]).toEqual([what, expect.stringMatching(named)]);
    expect(await verifyBooks()).toMatchObject({ code: 0 });
  },
  LIMIT_MS,
);

const otherSeed = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const otherNetworks = {
  ETHEREUM_CHAIN_ID: '1',
  BITCOIN_NETWORK: 'signet',
  // Addresses say which network they are of.
  BITCOIN_HOT_ADDRESS: openBitcoinWallet('signet', otherSeed).hotAddress,
  SOLANA_NETWORK: 'mainnet',
};
const refusals = [
  /ETHEREUM_RPC_URL: the node is on chain 31337, configured is 1/,
  /BITCOIN_RPC_URL: the node is on regtest \(first block [0-9a-f]{64}\), configured is signet/,
  /SOLANA_RPC_URL: the node is on local .*configured is mainnet/,
];

/** How another replica of a service ends up. */
async function startedWith(service: 'payouts' | 'invoices', other: Record<string, string>, until: RegExp[]) {
  const port = String(await freePort());
  const env = { ...quittance.stack.settingsOf(service), PORT: port, ...other };
  const { said, ended, kill } = runServiceMain(service, env);
  let code: number | null | undefined;
  void ended.then((end) => {
    code = end.code;
  });
  try {
    await eventually(() => {
      for (const line of until) expect(said.out + said.err).toMatch(line);
    }, MINUTE_MS);
    return await eventually(async () => {
      if (code !== undefined) return { code };
      return { ready: (await fetch(`http://127.0.0.1:${port}/readyz`)).status };
    });
  } finally {
    kill('SIGKILL');
    await ended;
  }
}

test('public keys of other words than those of the signer are named; those of its own are the database’s', async () => {
  const keys = {
    BITCOIN_XPUB: openBitcoinWallet('regtest', otherSeed).accountXpub,
    ETHEREUM_XPUB: openWallet(otherSeed).accountXpub,
  };
  const said = Object.keys(keys).map(
    (name) => new RegExp(`${name} and the recovery phrase of the signer do not belong together`),
  );
  expect(await startedWith('invoices', keys, said)).toEqual({ ready: 200 });
  const known = await quittance.db.rows('select chain from signer.wallets order by chain');
  expect(known).toEqual([{ chain: 'bitcoin' }, { chain: 'ethereum' }, { chain: 'solana' }]);
});

test.each(['payouts', 'invoices'] as const)('with nodes of other networks %s ends', async (service) => {
  expect(await startedWith(service, otherNetworks, refusals)).toEqual({ code: 1 });
});
