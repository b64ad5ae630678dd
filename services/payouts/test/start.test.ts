import { expect, it } from '@jest/globals';
import { runServiceMain } from '@quittance/testkit/service-main';
import { environment } from './service-client.ts';

const right = environment('postgres://nobody@127.0.0.1:1/none', 'nats://127.0.0.1:1');

async function run(env: Record<string, string>): Promise<{ code: number | null; said: string }> {
  const { said, ended } = runServiceMain('payouts', env);
  const { code } = await ended;
  return { code, said: said.out + said.err };
}

it('refuses to start with wrong settings, and names all of them without their values', async () => {
  const { code, said } = await run({
    ...right,
    PORT: 'http',
    ETHEREUM_HOT_ADDRESS: 'hot',
    ETHEREUM_CHAIN_ID: 'mainnet',
    ETHEREUM_USDC_ADDRESS: '0x5fbDB2315678afecb367f032d93F642f64180aa3',
    GATEWAY_PUBLIC_KEY: 'gwpk_short',
    CLAIM_LINKS_SECRET: 'short',
    ETHEREUM_RPC_URL: 'nowhere',
    BASE_RPC_URL: 'http://127.0.0.1:1',
    BASE_HOT_ADDRESS: '',
  });
  expect(code).toBe(1);
  for (const name of [
    'PORT',
    'ETHEREUM_HOT_ADDRESS',
    'ETHEREUM_CHAIN_ID',
    'ETHEREUM_USDC_ADDRESS',
    'GATEWAY_PUBLIC_KEY',
    'CLAIM_LINKS_SECRET',
    'ETHEREUM_RPC_URL',
    'BASE_CHAIN_ID',
  ]) {
    expect(said).toMatch(new RegExp(`^ {2}${name}: `, 'm'));
  }
  for (const name of ['BASE_CHAIN_ID', 'BASE_HOT_ADDRESS']) expect(said).toMatch(`${name}: is required`);
  for (const word of ['short', 'nowhere']) expect(said).not.toMatch(word);
});

it('refuses to start without a chain', async () => {
  const { code, said } = await run({ ...right, ETHEREUM_RPC_URL: '' });
  expect(code).toBe(1);
  expect(said).toMatch(/BITCOIN_RPC_URL or .*ETHEREUM_RPC_URL.*: is required/);
});
