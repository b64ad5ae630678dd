import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { localPort } from '@quittance/testkit/local-port';

const dir = mkdtempSync(join(tmpdir(), 'quittance-pay-'));
const chosen: string[] = [];
let port: number;
/** An API with one invoice, whose payer chooses the asset. No node answers. */
const server = createServer((req, res) => {
  const url = `http://127.0.0.1:${port}/pay/inv_1`;
  let body = '';
  req.on('data', (chunk: Buffer) => (body += chunk.toString()));
  req.on('end', () => {
    if (req.method === 'POST') chosen.push(`${req.url} ${body}`);
    const unchosen = {
      id: 'inv_1',
      url,
      status: 'pending',
      amount: null,
      asset: null,
      assets: ['ETH', 'BTC'],
    };
    res.end(JSON.stringify(unchosen));
  });
});

beforeAll(async () => {
  port = await localPort(server);
  const nodes = { ethereum: { rpc: 'http://127.0.0.1:1', tokens: { USDC_ERC20: '0x1' } } };
  const accounts = [{ name: 'shop', token: 'tok' }];
  const file = { url: `http://127.0.0.1:${port}`, accounts, nodes };
  writeFileSync(join(dir, 'sandbox.json'), JSON.stringify(file));
});
afterAll(() => {
  server.close();
  rmSync(dir, { recursive: true });
});

async function pay(...given: string[]): Promise<{ code: number | null; errors: string }> {
  const path = new URL('./pay.ts', import.meta.url).pathname;
  const env = { ...process.env, SANDBOX_DIR: dir };
  const child = spawn(process.execPath, [path, ...given], { env, timeout: 20_000 });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, errors: errors.replace(/.*(?:Warning|trace-warnings).*\n/g, '') };
}

test('an invoice without an asset is not paid: the page and --asset are named', async () => {
  const { code, errors } = await pay('inv_1');
  expect([code, errors]).toEqual([
    1,
    expect.stringMatching(
      /^no asset is chosen for the invoice yet: choose on http:\S+\/pay\/inv_1, or give --asset with one of ETH, BTC\n$/,
    ),
  ]);
  expect(chosen).toEqual([]);
});

test('--asset chooses on the payment page, and says when the choice was not taken', async () => {
  const { errors } = await pay('inv_1', '--asset', 'ETH');
  expect(chosen).toEqual(['/pay/inv_1/choose asset=ETH']);
  expect(errors).toMatch(/^ETH was not taken \(200\): choose on /);
});
