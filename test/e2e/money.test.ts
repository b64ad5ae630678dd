import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet } from '@quittance/chains/evm/wallet';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { formatUnits, parseUnits } from '@quittance/shared/money';
import type { Customer } from '@quittance/testkit/customer';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';

/**
 * Every way that money comes and goes, for each asset on its real node, from the API in to the chain and back. All
 * go side by side on one stack, each with a merchant of its own; a test waits for its own.
 */

type Asset = 'BTC' | 'ETH' | 'USDC_ERC20' | 'SOL' | 'USDC_SOL';
const matrix: readonly Asset[] = ['BTC', 'ETH', 'USDC_ERC20', 'SOL', 'USDC_SOL'];
/** More than the hot wallet has at first: it must be swept, or gathered from several coins. */
const large: Record<Asset, number> = {
  BTC: 600_000,
  ETH: 60_000,
  USDC_ERC20: 600,
  SOL: 30_000,
  USDC_SOL: 600,
};

/**
 * All scenes wait out an invoice's minute side by side: blocks that come faster, and looks that are more frequent, only
 * cost what other suites could do meanwhile.
 */
const BLOCK_EVERY_MS = 500;
const SLOT_MS = 100;
const WORK_EVERY_MS = '250';
const ASK_EVERY_MS = 500;
const STEP_MS = 60_000;
const LATE_MS = 120_000;
const MINUTE_MS = 60_000;

let quittance: Quittance;
let clock: NodeJS.Timeout;
const running = new Map<string, Promise<void>>();

const customerOf = (asset: AssetSymbol): Customer => {
  const { chain } = assets[asset];
  if (chain === 'bitcoin') return quittance.bitcoin;
  return chain === 'solana' ? quittance.solana : quittance.ethereum;
};

const units = (asset: Asset, text: string): bigint => {
  const parsed = parseUnits(text, assets[asset].decimals);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
};
const text = (asset: Asset, amount: bigint): string => formatUnits(amount as never, assets[asset].decimals);

type Invoice = { id: string; amount: string; address: { address: string } };

/** A merchant, an asset, and what can be done and seen. */
async function fixture(asset: Asset) {
  const shop: Merchant = await quittance.merchant();
  const customer = customerOf(asset);

  async function invoice(dollars: number, more: object = {}): Promise<Invoice> {
    const { status, body } = await shop.post('/api/invoices', { asset, amount: dollars, ...more });
    expect([status, body.errors]).toEqual([201, undefined]);
    return body.data;
  }
  const pay = ({ address }: Invoice, amount: string) => customer.pay(asset, address.address, amount);
  const becomes = (id: string, wanted: object, withinMs = STEP_MS) =>
    eventually(
      async () => expect((await shop.get(`/api/invoices/${id}`)).body).toMatchObject(wanted),
      withinMs,
      ASK_EVERY_MS,
    );
  async function balance(): Promise<{ balance: string; held: string }> {
    const { body } = await shop.get('/api/balances');
    return body.data.find((entry: { asset: { symbol: string } }) => entry.asset.symbol === asset);
  }
  const has = (balanceText: string) =>
    eventually(
      async () => expect(await balance()).toMatchObject({ balance: balanceText, held: '0' }),
      STEP_MS,
      ASK_EVERY_MS,
    );
  const status = async (id: number): Promise<string> => (await shop.get(`/api/payouts/${id}`)).body.status;
  /** What a payout costs beside its amount, as it was locked into it. */
  async function feeOf(id: number): Promise<bigint> {
    const sql = 'select network_fee::text as fee from payouts.payouts where id = $1';
    return BigInt((await quittance.db.one<{ fee: string }>(sql, [id])).fee);
  }
  async function payout(amount: bigint, given?: string): Promise<{ id: number; to: string }> {
    const to = given ?? (await customer.newAddress());
    const order = { asset, amount: text(asset, amount), address: to };
    const { status, body } = await shop.post('/api/payouts', order);
    expect([status, body.message]).toEqual([201, expect.any(String)]);
    return { id: body.data.id, to };
  }
  const mined = (id: number) =>
    eventually(async () => expect(await status(id)).toBe('mined'), STEP_MS, ASK_EVERY_MS);
  async function arrived(to: string, amount: bigint): Promise<void> {
    expect(await customer.balance(asset, to)).toBe(amount);
    expect(await customer.transactions(to)).toHaveLength(1);
  }
  async function events(id: string): Promise<string[]> {
    const { body } = await shop.get('/api/events?limit=500');
    return body.data
      .filter((event: { data: { id: string | number } }) => event.data.id === id)
      .map((event: { event: string }) => event.event);
  }
  /** Events are published a moment after the money has moved. */
  const tells = (id: string, history: unknown) =>
    eventually(async () => expect(await events(id)).toEqual(history), STEP_MS, ASK_EVERY_MS);
  /** The one deposit that waits for a decision. */
  const unresolved = () =>
    eventually(
      async () => {
        const { body } = await shop.get('/api/unresolved?status=open');
        expect(body.data).toHaveLength(1);
        return body.data[0] as { id: string; amount: string };
      },
      LATE_MS,
      ASK_EVERY_MS,
    );
  return {
    shop,
    customer,
    invoice,
    pay,
    becomes,
    balance,
    has,
    payout,
    status,
    feeOf,
    mined,
    arrived,
    tells,
    unresolved,
  };
}
type Fixture = Awaited<ReturnType<typeof fixture>>;

/** Sold for so many dollars, and paid in full. @returns what came in. */
async function sale({ invoice, pay, becomes }: Fixture, asset: Asset, dollars: number): Promise<bigint> {
  const made = await invoice(dollars);
  await pay(made, made.amount);
  await becomes(made.id, { status: 'paid', paid_amount: made.amount });
  return units(asset, made.amount);
}

/** An invoice whose minute has passed, and what it asked for. */
async function expired({ invoice, becomes }: Fixture): Promise<Invoice> {
  const made = await invoice(20, { expires_in: 1 });
  await becomes(made.id, { status: 'expired' }, LATE_MS);
  return made;
}

/** Sends an unresolved deposit back, less the fee. */
async function returned(at: Fixture, amount: bigint): Promise<void> {
  const { id } = await at.unresolved();
  const to = await at.customer.newAddress();
  const { status, body } = await at.shop.post(`/api/unresolved/${id}/return`, { address: to });
  expect([status, body.message]).toEqual([201, expect.any(String)]);
  await at.mined(body.data.id);
  await at.arrived(to, amount - (await at.feeOf(body.data.id)));
  await eventually(async () =>
    expect((await at.shop.get('/api/unresolved')).body.data).toEqual([
      expect.objectContaining({ id, status: 'returned' }),
    ]),
  );
  const again = await at.shop.post(`/api/unresolved/${id}/return`, { address: to });
  expect(again.status).toBe(409);
  await at.has('0');
}

const scenarios: Record<string, (at: Fixture, asset: Asset) => Promise<void>> = {
  async 'paid in full'(at) {
    const made = await at.invoice(25);
    const hash = await at.pay(made, made.amount);
    await at.becomes(made.id, {
      status: 'paid',
      pending_amount: '0',
      paid_amount: made.amount,
      payments: [{ tx_hash: hash, amount: made.amount, status: 'confirmed' }],
    });
    await at.has(made.amount);
    await at.tells(made.id, ['invoice.created', 'invoice.confirmed', 'invoice.paid']);
  },

  async 'paid in two parts'(at, asset) {
    const made = await at.invoice(40);
    const part = units(asset, made.amount) / 3n;
    await at.pay(made, text(asset, part));
    await at.becomes(made.id, { status: 'partially_paid' });
    await at.pay(made, text(asset, units(asset, made.amount) - part));
    await at.becomes(made.id, { status: 'paid', paid_amount: made.amount });
    await at.has(made.amount);
    await at.tells(made.id, [
      'invoice.created',
      'invoice.partially_paid',
      'invoice.confirmed',
      'invoice.paid',
    ]);
  },

  async 'paid too much'(at, asset) {
    const made = await at.invoice(10);
    const more = text(asset, units(asset, made.amount) * 2n);
    await at.pay(made, more);
    await at.becomes(made.id, { status: 'paid', paid_amount: more });
    await at.has(more);
    await at.tells(made.id, expect.arrayContaining(['invoice.overpaid']));
  },

  async 'paid too little, and what came is sent back'(at, asset) {
    const made = await at.invoice(40, { expires_in: 1 });
    const half = units(asset, made.amount) / 2n;
    await at.pay(made, text(asset, half));
    await at.becomes(made.id, { status: 'partially_paid', paid_amount: text(asset, half) });
    await returned(at, half);
    await at.tells(made.id, expect.arrayContaining(['invoice.underpaid']));
  },

  async 'paid too late, and accepted'(at) {
    const made = await expired(at);
    await at.pay(made, made.amount);
    const { id } = await at.unresolved();
    const { status, body } = await at.shop.post(`/api/unresolved/${id}/accept`, {});
    expect([status, body.data]).toEqual([200, expect.objectContaining({ id, status: 'accepted' })]);
    await at.has(made.amount);
    await at.becomes(made.id, { status: 'expired' });
    expect((await at.shop.post(`/api/unresolved/${id}/accept`, {})).status).toBe(409);
    await at.tells(made.id, expect.arrayContaining(['invoice.late_payment']));
  },

  async 'paid too late, and sent back'(at, asset) {
    const made = await expired(at);
    await at.pay(made, made.amount);
    await returned(at, units(asset, made.amount));
  },

  async 'a payout leaves exactly its amount and its fee'(at, asset) {
    const came = await sale(at, asset, 100);
    const amount = came / 2n;
    const { id, to } = await at.payout(amount);
    await at.mined(id);
    await at.arrived(to, amount);
    await at.has(text(asset, came - amount - (await at.feeOf(id))));
  },

  async 'a payout beyond what the hot wallet has'(at, asset) {
    const parts = await Promise.all([1, 2, 3].map(() => sale(at, asset, large[asset] / 3)));
    const came = parts.reduce((sum, part) => sum + part, 0n);
    const amount = (came * 9n) / 10n;
    const { id, to } = await at.payout(amount);
    await at.mined(id);
    await at.arrived(to, amount);
  },
};

/** The node is away while money is on its way in and out; everything ends when it is back. */
async function outage(asset: Asset): Promise<void> {
  const at = await fixture(asset);
  const came = await sale(at, asset, 100);
  const made = await at.invoice(30);
  const to = await at.customer.newAddress();
  const node = nodeOf(asset);
  // What only waits in a node's pool may be lost with it; a block is not.
  clearInterval(clock);
  await at.pay(made, made.amount);
  await at.customer.mine();
  await at.becomes(made.id, { status: 'confirmed' });
  await node.away();
  try {
    const { id } = await at.payout(came / 4n, to);
    expect(await at.status(id)).toBe('pending');
    await node.back();
    mineByTheClock();
    // As long as what comes late: a minute is little beside other suites, when the node has to be read again from the start.
    await at.becomes(made.id, { status: 'paid', paid_amount: made.amount }, LATE_MS);
    await at.mined(id);
    await at.arrived(to, came / 4n);
  } finally {
    await node.back();
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

/** Blocks come by themselves here, as they do on the networks; a node that is away makes none. */
function mineByTheClock(): void {
  let working = false;
  clock = setInterval(() => {
    if (working) return;
    working = true;
    const { ethereum, bitcoin } = quittance.stack.engines;
    const nodes = [
      ...(ethereum.pid === undefined ? [] : [quittance.ethereum]),
      ...(bitcoin?.pid === undefined ? [] : [quittance.bitcoin]),
    ];
    void Promise.allSettled(nodes.map((node) => node.mine())).then(() => {
      working = false;
    });
  }, BLOCK_EVERY_MS);
}

beforeAll(async () => {
  quittance = await startQuittance({
    confirmations: 3,
    solanaSlotMs: SLOT_MS,
    settings: { invoices: { SCAN_EVERY_MS: WORK_EVERY_MS }, payouts: { PAYOUTS_EVERY_MS: WORK_EVERY_MS } },
  });
  mineByTheClock();
  for (const asset of matrix) {
    for (const [name, play] of Object.entries(scenarios)) {
      // Its account is opened before the next one's: all at once they would wait for one another.
      const played = play(await fixture(asset), asset);
      // Its test waits for it, maybe later than it fails.
      played.catch(() => undefined);
      running.set(`${asset} ${name}`, played);
    }
  }
});
afterAll(async () => {
  clearInterval(clock);
  await quittance?.stop();
});

test.each(matrix.flatMap((asset) => Object.keys(scenarios).map((name) => [asset, name] as const)))(
  '%s: %s',
  async (asset, name) => {
    await expect(running.get(`${asset} ${name}`)).resolves.toBeUndefined();
  },
);

test('every invariant holds, and the ledger agrees with every chain', async () => {
  await Promise.allSettled(running.values());
  await eventually(async () => expect((await quittance.books()).discrepancies).toEqual([]), MINUTE_MS, 500);
});

test.each(['BTC', 'USDC_ERC20', 'SOL'] as const)('%s: the node is away and comes back', async (asset) => {
  await outage(asset);
  await eventually(async () => expect((await quittance.books()).discrepancies).toEqual([]), MINUTE_MS, 500);
});

const cli = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

/** As an operator runs it, with the settings that payouts has. */
async function verifyBooks(): Promise<{ code: number | null; output: string }> {
  const { adminUrl, chainSettings } = quittance.stack;
  const env = { DATABASE_URL_ADMIN: adminUrl, ...chainSettings };
  return await new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [cli, 'verify-books', '--grace-period', '0'],
      { env },
      (_, out, err) => resolve({ code: child.exitCode, output: out + err }),
    );
  });
}

const aMined = `(select id from payouts.payouts where status = 'mined' and asset = $1 order by id limit 1)`;
const aCost = `(select min(seq) from ledger.transfers where kind = 'network' and asset = $1)`;
const aBalance = `asset = $1 and account_id = (select min(account_id) from ledger.balances where asset = $1)`;

/** The error that is seeded in the ledger, what repairs it, and how the checker names it. */
const seeded: [string, Asset, string[], string[], RegExp][] = [
  ...(['BTC', 'ETH', 'USDC_ERC20', 'SOL', 'USDC_SOL'] as const).map(
    (asset): [string, Asset, string[], string[], RegExp] => [
      `a payout of ${asset} that is one unit larger in the books than on the chain`,
      asset,
      [
        `update payouts.payments set amount = amount + 1 where payout_id = ${aMined}`,
        `update payouts.payouts set amount = amount + 1 where id = ${aMined}`,
      ],
      [
        `update payouts.payments set amount = amount - 1 where payout_id = ${aMined}`,
        `update payouts.payouts set amount = amount - 1 where id = ${aMined}`,
      ],
      new RegExp(`\\(I4\\): payout \\d+: \\w+ pays \\d+ ${asset} to `),
    ],
  ),
  ...(['BTC', 'ETH', 'SOL'] as const).map((asset): [string, Asset, string[], string[], RegExp] => [
    `a cost in ${asset} that the chain did not take`,
    asset,
    [`update ledger.transfers set amount = amount + 1 where seq = ${aCost}`],
    [`update ledger.transfers set amount = amount - 1 where seq = ${aCost}`],
    /\(I6\): \w+ cost \d+ in the chain, \d+ is booked/,
  ]),
  ...(['BTC', 'ETH', 'USDC_ERC20', 'SOL', 'USDC_SOL'] as const).map(
    (asset): [string, Asset, string[], string[], RegExp] => [
      `more ${asset} owed than lies on the chain`,
      asset,
      [`update ledger.balances set available = available + 10^24::numeric where ${aBalance}`],
      [`update ledger.balances set available = available - 10^24::numeric where ${aBalance}`],
      new RegExp(`\\(I6\\): ${asset} is short of \\d+`),
    ],
  ),
];

const change = async (statements: readonly string[], asset: Asset) => {
  for (const sql of statements) await quittance.db.rows(sql, [asset]);
};

test('each discrepancy that is planted is named, and verify-books names them all and ends with 1', async () => {
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
  const { code, output } = await verifyBooks();
  for (const [, asset, , repair] of seeded) await change(repair, asset);
  expect(code).toBe(1);
  for (const [what, , , , named] of seeded)
    expect([what, output]).toEqual([what, expect.stringMatching(named)]);
  expect(await verifyBooks()).toMatchObject({ code: 0 });
});

const otherSeed = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const otherNetworks = { ETHEREUM_CHAIN_ID: '1', BITCOIN_NETWORK: 'signet', SOLANA_NETWORK: 'mainnet' };
const refusals = [
  /the node is on chain 31337, configured is 1/,
  /the node is not on Bitcoin's signet/,
  /the node is on local .*configured is mainnet/,
];

/** How a service ends up that is started in place of the running one, which is not needed any more. */
async function startedWith(service: 'payouts' | 'invoices', other: Record<string, string>, until: RegExp[]) {
  await quittance.stack.services[service].stop();
  const env = { ...quittance.stack.settingsOf(service), ...other };
  const main = fileURLToPath(new URL(`../../services/${service}/src/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [main], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  try {
    await eventually(() => {
      for (const said of until) expect(output).toMatch(said);
    });
    return await eventually(async () => {
      if (child.exitCode !== null) return { code: child.exitCode };
      return { ready: (await fetch(`http://127.0.0.1:${env['PORT']}/readyz`)).status };
    });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

test('public keys of other words than those of payouts are named; those of its own are the database’s', async () => {
  const keys = {
    BITCOIN_XPUB: openBitcoinWallet('regtest', otherSeed).accountXpub,
    ETHEREUM_XPUB: openWallet(otherSeed).accountXpub,
  };
  const said = Object.keys(keys).map(
    (name) => new RegExp(`${name} and the WALLET_SEED of payouts do not belong together`),
  );
  expect(await startedWith('invoices', keys, said)).toEqual({ ready: 200 });
  const known = await quittance.db.rows('select chain from payouts.known_hot_wallets order by chain');
  expect(known).toEqual([{ chain: 'bitcoin' }, { chain: 'ethereum' }]);
});

test.each([
  ['', /WALLET_SEED: is required/],
  [`${otherSeed} yellow`, /WALLET_SEED: must be a BIP-39 recovery phrase/],
])('a seed that is none (%j) is named, and ends payouts', async (seed, said) => {
  expect(await startedWith('payouts', { WALLET_SEED: seed }, [said])).toEqual({ code: 1 });
});

test('a seed of another wallet is named, and ends payouts', async () => {
  const said = /WALLET_SEED belongs to the hot wallet \w+, this database was used with/;
  expect(await startedWith('payouts', { WALLET_SEED: otherSeed }, [said])).toEqual({ code: 1 });
});

test.each(['payouts', 'invoices'] as const)('with nodes of other networks %s ends', async (service) => {
  expect(await startedWith(service, otherNetworks, refusals)).toEqual({ code: 1 });
});
