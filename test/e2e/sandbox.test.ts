import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { PORTS } from '@quittance/sandbox/ports';
import { eventually } from '@quittance/testkit/eventually';
import { merchant } from '@quittance/testkit/merchant';

/** `npm start` as a person types it, behind the set-up: the sandbox's own process. */

const main = fileURLToPath(new URL('../../sandbox/src/main.ts', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'quittance-sandbox-'));

type Run = { child: ChildProcess; output: () => string; ended: Promise<number | null> };
const running: Run[] = [];

function start(...given: string[]): Run {
  let output = '';
  const child = spawn(process.execPath, [main, ...given], { env: { ...process.env, SANDBOX_DIR: home } });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const run = { child, output: () => output, ended };
  running.push(run);
  return run;
}

const ready = (run: Run) => eventually(() => expect(run.output()).toContain('Quittance is ready'), 60_000);

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

test('it starts, says what to type next, keeps its data, and leaves nothing behind', async () => {
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
  const { id, amount, address } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 10 })).body.data;
  const pay = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_sendTransaction',
    params: [
      { from: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', to: address.address, value: '0xe35fa931a0000' },
    ],
  });
  expect(amount).toBe('0.004');
  await fetch(nodes.ethereum.rpc, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: pay,
  });
  await eventually(
    async () => expect((await shop.get(`/api/invoices/${id}`)).body).toMatchObject({ status: 'paid' }),
    40_000,
    500,
  );
  await stop(first);
  for (let i = 0; i < PORTS; i++) expect(await taken(port + i)).toBe(false);

  const second = start('--port', String(port));
  await ready(second);
  expect(sandbox().accounts).toEqual(accounts);
  expect((await shop.get(`/api/invoices/${id}`)).body).toMatchObject({
    status: 'paid',
    paid_amount: '0.004',
  });
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
}, 240_000);

test('a sandbox that is killed takes its engines and services with it', async () => {
  const port = await freePort();
  const run = start('--port', String(port));
  await ready(run);
  run.child.kill('SIGKILL');
  await run.ended;
  await eventually(async () => {
    for (let i = 0; i < PORTS; i++) expect(await taken(port + i)).toBe(false);
  }, 30_000);
}, 120_000);

test('a wrong argument is explained', async () => {
  const run = start('--prot', '8400');
  expect(await run.ended).toBe(1);
  expect(run.output()).toContain('npm start -- [--port N] [--fresh]');
});
