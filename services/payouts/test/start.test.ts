import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { encryptPhrase, writeSecretFile } from '@quittance/chains/keystore';
import { freePort } from '@quittance/engines/free-port';
import { loadConfig } from '@quittance/shared/config';
import { eventually } from '@quittance/testkit/eventually';
import { runServiceMain } from '@quittance/testkit/service-main';
import { configSchema } from '../src/config.ts';
import { environment, SEED } from './service-client.ts';

const right = environment('postgres://nobody@127.0.0.1:1/none', 'nats://127.0.0.1:1');

async function run(env: Record<string, string>): Promise<{ code: number | null; said: string }> {
  const { said, ended } = runServiceMain('payouts', env);
  const { code } = await ended;
  return { code, said: said.out + said.err };
}

it('refuses to start with wrong settings, and names all of them without their values', async () => {
  const wrongSeed = SEED.replace(/yellow$/, 'year');
  const { code, said } = await run({
    ...right,
    PORT: 'http',
    WALLET_SEED: wrongSeed,
    ETHEREUM_CHAIN_ID: 'mainnet',
    ETHEREUM_USDC_ADDRESS: '0x5fbDB2315678afecb367f032d93F642f64180aa3',
    GATEWAY_PUBLIC_KEY: 'gwpk_short',
    CLAIM_LINKS_SECRET: 'short',
    ETHEREUM_RPC_URL: 'nowhere',
    BASE_RPC_URL: 'http://127.0.0.1:1',
  });
  expect(code).toBe(1);
  for (const name of [
    'PORT',
    'WALLET_SEED',
    'ETHEREUM_CHAIN_ID',
    'ETHEREUM_USDC_ADDRESS',
    'GATEWAY_PUBLIC_KEY',
    'CLAIM_LINKS_SECRET',
    'ETHEREUM_RPC_URL',
    'BASE_CHAIN_ID',
  ]) {
    expect(said).toMatch(new RegExp(`^ {2}${name}: `, 'm'));
  }
  expect(said).toMatch('BASE_CHAIN_ID: is required');
  for (const word of ['legal', 'winner', 'short']) expect(said).not.toMatch(word);
});

const dir = mkdtempSync(join(tmpdir(), 'quittance-payouts-'));
afterAll(() => rmSync(dir, { recursive: true }));
const [keystore, passphrase] = [join(dir, 'keystore.json'), join(dir, 'passphrase')];
writeSecretFile(keystore, encryptPhrase(SEED, 'right', { n: 2 ** 14 }));
writeSecretFile(passphrase, 'wrong\n');

it.each([
  [{}, 'WALLET_KEYSTORE: is required, with WALLET_PASSPHRASE_FILE: `quittance wallet init` makes both'],
  [{ WALLET_SEED: `${SEED} yellow` }, 'WALLET_SEED: must be a BIP-39 recovery phrase'],
  [
    { WALLET_SEED: SEED, WALLET_KEYSTORE: 'k' },
    'WALLET_SEED: is given beside WALLET_KEYSTORE: remove it when the keystore holds its words',
  ],
  [{ WALLET_KEYSTORE: 'k' }, 'WALLET_PASSPHRASE_FILE: is required with WALLET_KEYSTORE'],
  [{ WALLET_PASSPHRASE_FILE: 'p' }, 'WALLET_KEYSTORE: is required with WALLET_PASSPHRASE_FILE'],
  [
    { WALLET_PASSPHRASE_FILE: 'p', WALLET_SEED: SEED },
    'WALLET_KEYSTORE: is required with WALLET_PASSPHRASE_FILE',
  ],
])('one wallet is required: %j is refused', (given, problem) => {
  expect(() => loadConfig('payouts', configSchema, { ...right, WALLET_SEED: '', ...given })).toThrow(
    expect.objectContaining({ problems: [problem] }),
  );
});

it.each([
  [
    { WALLET_KEYSTORE: keystore, WALLET_PASSPHRASE_FILE: join(dir, 'none') },
    /WALLET_PASSPHRASE_FILE: ENOENT/,
  ],
  [{ WALLET_KEYSTORE: join(dir, 'none'), WALLET_PASSPHRASE_FILE: passphrase }, /WALLET_KEYSTORE: ENOENT/],
  [
    { WALLET_KEYSTORE: keystore, WALLET_PASSPHRASE_FILE: passphrase },
    /WALLET_KEYSTORE: .*keystore.json: the passphrase is not the one/,
  ],
])('a wallet that does not open ends it: %j', async (given, why) => {
  const { code, said } = await run({ ...right, WALLET_SEED: '', ...given });
  expect(code).toBe(1);
  expect(said).toMatch(why);
  expect(said).not.toMatch('wrong\n');
});

it('refuses to start without a chain', async () => {
  const { code, said } = await run({ ...right, ETHEREUM_RPC_URL: '' });
  expect(code).toBe(1);
  expect(said).toMatch(/BITCOIN_RPC_URL or .*ETHEREUM_RPC_URL.*: is required/);
});

it('waits for the database and logs that', async () => {
  const { said, kill } = runServiceMain('payouts', {
    ...right,
    PORT: String(await freePort()),
    LOG_LEVEL: 'warn',
  });
  try {
    await eventually(() => expect(said.out).toMatch(/waiting for the database.*asking again every second/));
  } finally {
    kill('SIGKILL');
  }
});
