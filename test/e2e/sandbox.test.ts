import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { assertPortsFree, freePort } from '@quittance/engines/free-port';
import { startPostgres } from '@quittance/engines/postgres';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { PORTS } from '@quittance/stack/ports';
import { checkAnswer } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import { type Merchant, merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import { guides } from './guides/documents.ts';

/**
 * `npm start` as a person types it, behind the set-up: the sandbox's own process. What the guides say is typed into it,
 * with the account that they use; the rest has the other one.
 */

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const main = file('apps/sandbox/src/main.ts');
const pay = file('apps/sandbox/src/pay.ts');
const cli = file('apps/cli/src/main.ts');
const READY_WITHIN_MS = 180_000;
const home = mkdtempSync(join(tmpdir(), 'quittance-sandbox-'));

type Run = { child: ChildProcess; output: () => string; ended: Promise<number | null> };
const running: Run[] = [];

function start(...given: string[]): Run {
  return startWith({}, ...given);
}

function startWith(env: Record<string, string>, ...given: string[]): Run {
  const run = started(main, given, env);
  running.push(run);
  return run;
}

function started(script: string, given: readonly string[], env = {}): Run {
  let output = '';
  const child = spawn(process.execPath, [script, ...given], {
    env: { ...process.env, SANDBOX_DIR: home, ...env },
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, output: () => output, ended };
}

/** A command typed in another terminal. */
async function typed(script: string, ...given: string[]): Promise<{ code: number | null; output: string }> {
  const run = started(script, given);
  return { code: await run.ended, output: run.output() };
}

const ready = (run: Run) =>
  eventually(() => expect(run.output()).toContain('Quittance is ready'), READY_WITHIN_MS);

async function stop(run: Run): Promise<void> {
  run.child.kill('SIGINT');
  expect(await run.ended).toBe(0);
}

const sandbox = () => JSON.parse(readFileSync(join(home, 'sandbox.json'), 'utf8'));

/** Throws while anything listens on a port of a sandbox that begins there. */
const assertNothingLeft = (first: number) =>
  assertPortsFree(Array.from({ length: PORTS }, (_, i) => ({ port: first + i, what: 'the next sandbox' })));

let port: number;
let first: Run;
let shop: Merchant;
const documents = guides(home);

beforeAll(
  async () => {
    port = await freePort();
    // Left by an earlier start, and no secrets that a start could use: --fresh throws them away.
    mkdirSync(folder());
    writeFileSync(join(folder(), 'secrets.json'), '{}');
    first = start('--port', String(port), '--fresh');
    await ready(first);
    const { url, accounts } = sandbox();
    shop = merchant(url, '', accounts[1].token, undefined, undefined, checkAnswer);
    // What the documents ask for all at once are more requests than one of them makes.
    expect(await typed(cli, 'account', 'limit', 'demo', '100000')).toMatchObject({ code: 0 });
    documents.begin();
  },
  patient(READY_WITHIN_MS + 20_000),
);
afterAll(async () => {
  for (const run of running.splice(0)) {
    run.child.kill('SIGINT');
    await run.ended;
  }
  rmSync(home, { recursive: true, force: true });
});

const folder = () => join(home, String(port));

/** How long the sandbox had been up: 10,000 slots of 400 ms. */
const OLD_CHAIN_SLOTS = 10_000;
const attemptsSql = `select state from transactions where chain = 'solana' and purpose = 'payout' order by attempt`;

async function withDatabase<T>(
  work: (db: Db) => Promise<T>,
  url: string = JSON.parse(readFileSync(join(home, 'operator.json'), 'utf8')).adminDatabaseUrl,
): Promise<T> {
  const db = openDb({ url, schema: 'payouts', pool: 1, logger: createLogger('test', 'silent') });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** The stopped sandbox had been up for more than an hour when it sent what is in flight. */
async function makeOlder(dataDir: string): Promise<void> {
  const postgres = await startPostgres({ dataDir, port: 0 });
  try {
    const aged = await withDatabase(
      (db) =>
        db.rows(
          `update transactions set created_at = created_at - interval '1 hour',
             valid_to_height = valid_to_height + $1, final_height_when_signed = final_height_when_signed + $1
           where chain = 'solana' and purpose = 'payout' and state = 'broadcast' returning id`,
          [OLD_CHAIN_SLOTS],
        ),
      new URL('/quittance', postgres.url).href,
    );
    expect(aged).toHaveLength(1);
  } finally {
    await postgres.stop();
  }
}

const symbols = ['BTC', 'ETH', 'USDC_ERC20', 'SOL', 'USDC_SOL'];
const ids = new Map<string, string>();

type Listed = { id: string; status: string };
// Requests are counted here as in production: all are asked for at once.
const allPaid = async () => {
  const { body } = await shop.get('/api/invoices?status=paid');
  const paid = body.data.map(({ id }: Listed) => id);
  expect(paid).toEqual(expect.arrayContaining([...ids.values()]));
};
const booksAreRight = (chains: string) =>
  eventually(async () => {
    const books = await typed(cli, 'verify-books', '--grace-period', '5');
    expect(books).toMatchObject({ code: 0, output: expect.stringContaining('The books are right') });
    expect(books.output).toContain(`compared with ${chains}`);
  }, 60_000);

test('it starts afresh and says what to type next', () => {
  const { url, accounts, nodes } = sandbox();
  expect(url).toBe(`http://localhost:${port}`);
  expect(first.output()).toContain(`dashboard  http://localhost:${port}/dashboard`);
  expect(accounts).toHaveLength(2);
  expect(nodes.ethereum.rpc).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(first.output()).toContain(accounts[0].token);
  expect(first.output()).toContain(`curl -s ${url}/api/invoices`);
});

test(
  'an invoice of each asset is paid by what to type',
  async () => {
    for (const asset of symbols) {
      const { status, body } = await shop.post('/api/invoices', { asset, amount: 10 });
      expect([asset, status]).toEqual([asset, 201]);
      ids.set(asset, body.data.id);
    }
    const [anyId = ''] = ids.values();
    const late = await typed(pay, anyId, '--late');
    expect(late).toMatchObject({ code: 1, output: expect.stringContaining('"expires_in": 1') });
    const paid = await Promise.all(symbols.map((asset) => typed(pay, ids.get(asset) ?? '')));
    expect(paid.map(({ output }) => output)).toEqual(symbols.map((asset) => expect.stringContaining(asset)));
    await eventually(allPaid, 90_000, 4_000);
  },
  patient(180_000),
);

test(
  'an invoice is paid with test money by a request, on each chain',
  async () => {
    const invoices = await Promise.all(
      symbols.map(async (asset) => (await shop.post('/api/invoices', { asset, amount: 10 })).body.data),
    );
    const payments = invoices.map(({ asset, address, amount }) => ({
      asset: asset.symbol,
      address: address.address,
      amount,
    }));
    const sent = payments.map((payment) => shop.post('/api/sandbox/payments', payment));
    for (const [index, { status, body }] of (await Promise.all(sent)).entries())
      expect([status, body.data]).toEqual([201, { ...payments[index], tx_hash: expect.any(String) }]);
    await eventually(
      async () => {
        const { body } = await shop.get('/api/invoices');
        const seen = body.data.filter(({ status }: Listed) => status === 'confirmed' || status === 'paid');
        expect(seen.map(({ id }: Listed) => id)).toEqual(
          expect.arrayContaining(invoices.map(({ id }) => id)),
        );
      },
      60_000,
      2_000,
    );
  },
  patient(90_000),
);

documents.haveRun();

test(
  'it keeps its data and what is in flight, goes on without Bitcoin, and leaves nothing behind',
  async () => {
    const { accounts } = sandbox();
    await booksAreRight('bitcoin, ethereum, solana');

    // In flight when everything stops: the next start mines it, on Solana in a chain that is new.
    const to = 'HN7cABqLq46Es1jh92dQQisAq662SmxELLLsHHe4YWrH';
    const sent = await shop.post('/api/payouts', { asset: 'SOL', amount: 0.02, address: to });
    expect(sent.status).toBe(201);
    // It is final some thirteen seconds after it was sent: until then it is in flight.
    const attempts = () => withDatabase((db) => db.rows(attemptsSql));
    await eventually(async () => expect(await attempts()).toEqual([{ state: 'broadcast' }]), 60_000, 50);
    await stop(first);
    await assertNothingLeft(port);
    await makeOlder(join(folder(), 'postgres'));

    const second = startWith({ BITCOIND_PATH: '/nowhere/bitcoind' }, '--port', String(port));
    await ready(second);
    expect(second.output()).toMatch(/WITHOUT BITCOIN: .*BITCOIND_PATH.*switched off/);
    expect(Object.keys(sandbox().nodes)).toEqual(['ethereum', 'solana']);
    const { body } = await shop.get('/api/assets');
    expect(body.data.map(({ symbol }: { symbol: string }) => symbol)).not.toContain('BTC');
    expect(body.data).toHaveLength(4);
    expect(sandbox().accounts).toEqual(accounts);
    await allPaid();
    await eventually(
      async () => expect((await shop.get(`/api/payouts/${sent.body.data.id}`)).body.status).toBe('mined'),
      180_000,
      4_000,
    );
    expect(await attempts()).toEqual([{ state: 'invalidated' }, { state: 'mined' }]);
    const told = (await shop.get(`/api/payouts/${sent.body.data.id}/attempts`)).body.data;
    expect(told).toMatchObject([
      { status: 'replaced', fee_asset: 'SOL', fee_paid: null },
      { status: 'mined', fee_asset: 'SOL', fee_paid: expect.any(String), block_height: expect.any(Number) },
    ]);
    await booksAreRight('ethereum, solana');
    // Somebody else is there already: the port is named, and the first is not disturbed.
    const third = start('--port', String(port));
    expect(await third.ended).toBe(1);
    expect(third.output()).toContain(`port ${port}, wanted for gateway`);
    expect((await shop.get('/api/assets')).status).toBe(200);
    second.child.kill('SIGKILL');
    await second.ended;
    await eventually(() => assertNothingLeft(port), 30_000);
  },
  patient(600_000),
);

test('a wrong argument is explained', async () => {
  const run = start('--prot', '8400');
  expect(await run.ended).toBe(1);
  expect(run.output()).toContain('npm start -- [--port N] [--fresh]');
});
