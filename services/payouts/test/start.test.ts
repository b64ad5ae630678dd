import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { environment, SEED } from './service-client.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const right = environment('postgres://nobody@127.0.0.1:1/none', 'nats://127.0.0.1:1');

async function run(env: Record<string, string>): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [MAIN], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const said = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, said: said.join('') };
}

it('refuses to start with wrong settings, and names all of them without their values', async () => {
  const wrongSeed = SEED.replace(/yellow$/, 'year');
  const { code, said } = await run({
    ...right,
    PORT: 'http',
    WALLET_SEED: wrongSeed,
    ETHEREUM_CHAIN_ID: 'mainnet',
    ETHEREUM_USDC_ADDRESS: '0x5fbDB2315678afecb367f032d93F642f64180aa3',
    IDENTITY_SECRET: 'short',
    ETHEREUM_RPC_URL: 'nowhere',
    BASE_RPC_URL: 'http://127.0.0.1:1',
  });
  expect(code).toBe(1);
  for (const name of [
    'PORT',
    'WALLET_SEED',
    'ETHEREUM_CHAIN_ID',
    'ETHEREUM_USDC_ADDRESS',
    'IDENTITY_SECRET',
    'ETHEREUM_RPC_URL',
    'BASE_CHAIN_ID',
  ]) {
    expect(said).toMatch(new RegExp(`^ {2}${name}: `, 'm'));
  }
  expect(said).toMatch('BASE_CHAIN_ID: is required');
  for (const word of ['legal', 'winner', 'short']) expect(said).not.toMatch(word);
});

it('refuses to start without a chain', async () => {
  const { code, said } = await run({ ...right, ETHEREUM_RPC_URL: '' });
  expect(code).toBe(1);
  expect(said).toMatch(/BITCOIN_RPC_URL or .*ETHEREUM_RPC_URL.*: is required/);
});

it('waits for the database and logs that', async () => {
  const child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...right, PORT: String(21_000 + Math.floor(Math.random() * 9_000)), LOG_LEVEL: 'warn' },
  });
  let said = '';
  for await (const chunk of child.stdout) {
    said += String(chunk);
    if (/waiting for the database/.test(said)) break;
  }
  child.kill('SIGKILL');
  expect(said).toMatch('asking again every second');
});
