import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { demoAccounts } from '@quittance/sandbox/demo-accounts';
import { assets } from '@quittance/shared/assets';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { parseUnits, units } from '@quittance/shared/money';
import { humanePace, startChainNodes } from '@quittance/stack/chain-nodes';
import { payFromFaucet } from '@quittance/stack/faucet';
import { processes } from '@quittance/stack/parts';
import { PORTS, portsFrom } from '@quittance/stack/ports';
import { type StackOptions, startStack } from '@quittance/stack/stack';
import { eventually } from '@quittance/testkit/eventually';
import { merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';

/** `npm start` as a person types it, behind the set-up: the sandbox's own process. */

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const main = file('apps/sandbox/src/main.ts');
const pay = file('apps/sandbox/src/pay.ts');
const cli = file('apps/cli/src/main.ts');
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

const ready = (run: Run) => eventually(() => expect(run.output()).toContain('Quittance is ready'), 180_000);

async function stop(run: Run): Promise<void> {
  run.child.kill('SIGINT');
  expect(await run.ended).toBe(0);
}

const sandbox = () => JSON.parse(readFileSync(join(home, 'sandbox.json'), 'utf8'));

async function taken(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(true));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(false)));
  });
}

afterEach(async () => {
  for (const run of running.splice(0)) {
    run.child.kill('SIGINT');
    await run.ended;
  }
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test(
  'it starts, says what to type next, keeps its data, and leaves nothing behind',
  async () => {
    const port = await freePort();
    const first = start('--port', String(port));
    await ready(first);
    const { url, accounts, nodes } = sandbox();
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(accounts).toHaveLength(2);
    expect(nodes.ethereum.rpc).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(first.output()).toContain(accounts[0].token);
    expect(first.output()).toContain(`curl -s ${url}/api/invoices`);

    const shop = merchant(url, '', accounts[0].token);
    const symbols = ['BTC', 'ETH', 'USDC_ERC20', 'SOL', 'USDC_SOL'];
    const ids = new Map<string, string>();
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
    // Requests are counted here as in production: all are asked for at once.
    const allPaid = async () => {
      const { body } = await shop.get('/api/invoices?status=paid');
      expect(new Set(body.data.map((invoice: { id: string }) => invoice.id))).toEqual(new Set(ids.values()));
    };
    await eventually(allPaid, 90_000, 4_000);

    // Asked for and not done when everything stops: the next start does it, on Solana in a chain that is new.
    const to = 'HN7cABqLq46Es1jh92dQQisAq662SmxELLLsHHe4YWrH';
    const sent = await shop.post('/api/payouts', { asset: 'SOL', amount: 0.02, address: to });
    expect(sent.status).toBe(201);
    await stop(first);
    for (let i = 0; i < PORTS; i++) expect(await taken(port + i)).toBe(false);

    const second = start('--port', String(port));
    await ready(second);
    expect(sandbox().accounts).toEqual(accounts);
    await allPaid();
    await eventually(
      async () => expect((await shop.get(`/api/payouts/${sent.body.data.id}`)).body.status).toBe('mined'),
      180_000,
      4_000,
    );
    await eventually(async () => {
      const books = await typed(cli, 'verify-books', '--grace-period', '5');
      expect(books).toMatchObject({ code: 0, output: expect.stringContaining('The books are right') });
      expect(books.output).toContain('compared with bitcoin, ethereum, solana');
    }, 60_000);
    // Somebody else is there already: the port is named, and the first is not disturbed.
    const third = start('--port', String(port));
    expect(await third.ended).toBe(1);
    expect(third.output()).toContain(`port ${port}, wanted for gateway`);
    expect((await shop.get('/api/assets')).status).toBe(200);
    await stop(second);

    const fresh = start('--port', String(port), '--fresh');
    await ready(fresh);
    expect(sandbox().accounts[0].token).not.toBe(accounts[0].token);
    expect((await shop.get('/api/assets')).status).toBe(401);
    await stop(fresh);
  },
  patient(600_000),
);

test('without a Bitcoin node it goes on without BTC; killed, it takes its engines and services with it', async () => {
  const port = await freePort();
  const run = startWith({ BITCOIND_PATH: '/nowhere/bitcoind' }, '--port', String(port));
  await ready(run);
  expect(run.output()).toMatch(/WITHOUT BITCOIN: .*BITCOIND_PATH.*switched off/);
  const { url, accounts, nodes } = sandbox();
  expect(Object.keys(nodes)).toEqual(['ethereum', 'solana']);
  const { body } = await merchant(url, '', accounts[0].token).get('/api/assets');
  expect(body.data.map(({ symbol }: { symbol: string }) => symbol)).not.toContain('BTC');
  expect(body.data).toHaveLength(4);
  run.child.kill('SIGKILL');
  await run.ended;
  await eventually(async () => {
    for (let i = 0; i < PORTS; i++) expect(await taken(port + i)).toBe(false);
  }, 30_000);
});

test('a wrong argument is explained', async () => {
  const run = start('--prot', '8400');
  expect(await run.ended).toBe(1);
  expect(run.output()).toContain('npm start -- [--port N] [--fresh]');
});

/** How long the sandbox had been up: 10,000 slots of 400 ms. */
const OLD_CHAIN_SLOTS = 10_000;
const openAs = (url: string) =>
  openDb({ url, schema: 'payouts', pool: 1, logger: createLogger('test', 'silent') });

test(
  'a Solana payout that was in flight when a sandbox of more than an hour was stopped is mined after the next start',
  async () => {
    const dir = join(home, 'restarted');
    const options: StackOptions = { dir, basePort: await freePort(), pace: humanePace, chains: ['solana'] };
    const first = await startStack(options);
    let id = '';
    try {
      const [account] = await demoAccounts(first, dir);
      const shop = merchant(first.url, '', account?.token ?? '');
      const made = await shop.post('/api/invoices', { asset: 'SOL', amount: 20 });
      const { amount, address } = made.body.data;
      const due = parseUnits(amount, assets.SOL.decimals);
      await payFromFaucet(first.nodes, 'SOL', {
        to: address.address,
        amount: due.ok ? due.value : units(0n),
      });
      const isPaid = async () =>
        expect((await shop.get(`/api/invoices/${made.body.data.id}`)).body.status).toBe('paid');
      await eventually(isPaid, 120_000, 2_000);
      const sent = await shop.post('/api/payouts', {
        asset: 'SOL',
        amount: 0.02,
        address: 'HN7cABqLq46Es1jh92dQQisAq662SmxELLLsHHe4YWrH',
      });
      expect(sent.status).toBe(201);
      id = sent.body.data.id;
      // It is final some thirteen seconds after it was sent: until then it is in flight.
      const db = openAs(first.adminUrl);
      await eventually(
        async () =>
          expect(
            await db.rows(`select 1 from transactions where purpose = 'payout' and state = 'broadcast'`),
          ).toHaveLength(1),
        60_000,
        50,
      );
      await db.close();
    } finally {
      await first.stop();
    }

    const second = await startStack({
      ...options,
      async beforeServices(adminUrl) {
        const db = openAs(adminUrl);
        const aged = await db.rows(
          `update transactions set created_at = created_at - interval '1 hour',
             valid_to_height = valid_to_height + $1, final_height_when_signed = final_height_when_signed + $1
           where purpose = 'payout' and state = 'broadcast' returning id`,
          [OLD_CHAIN_SLOTS],
        );
        await db.close();
        expect(aged).toHaveLength(1);
      },
    });
    const db = openAs(second.adminUrl);
    try {
      const status = async () =>
        (await db.one<{ status: string }>('select status from payouts where id = $1', [id])).status;
      await eventually(async () => expect(await status()).toBe('mined'), 120_000, 500);
      const attempts = await db.rows(
        `select state from transactions where purpose = 'payout' order by attempt`,
      );
      expect(attempts).toEqual([{ state: 'invalidated' }, { state: 'mined' }]);
    } finally {
      await db.close();
      await second.stop();
    }
  },
  patient(600_000),
);

/** Blocks, and the past states that anvil keeps of them: 21 MB with 64 of those, a quarter of that with 16. */
const BLOCKS = 2_000;
const STATE_BYTES_MAX = 8 * 1024 * 1024;

test(
  'the sandbox’s Ethereum node keeps no more of its past than its readers ask for',
  async () => {
    const dir = join(home, 'nodes');
    mkdirSync(dir);
    const { ethereum } = await startChainNodes({
      dir,
      ports: portsFrom(await freePort()),
      pace: humanePace,
      parts: processes,
      chains: [],
      keep: (engine) => engine,
      onUnexpectedExit: (error) => {
        throw error;
      },
      say: () => undefined,
    });
    const ask = async (method: string, ...params: unknown[]) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const headers = { 'content-type': 'application/json' };
      return JSON.parse(await (await fetch(ethereum.rpcUrl, { method: 'POST', headers, body })).text());
    };
    try {
      for (let mined = 0; mined < BLOCKS; mined += 500) await ask('anvil_mine', '0x1f4');
      const { result } = await ask('eth_getBlockByNumber', 'finalized', false);
      const [account] = (await ask('eth_accounts')).result;
      expect((await ask('eth_getBalance', account, result.number)).result).toMatch(/^0x[1-9a-f]/);
      expect((await ask('anvil_reorg', 10, [])).error).toBeUndefined();
    } finally {
      await ethereum.stop();
    }
    expect(statSync(join(dir, 'ethereum.json')).size).toBeLessThan(STATE_BYTES_MAX);
  },
  patient(120_000),
);
