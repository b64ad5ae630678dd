import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet } from '@quittance/chains/evm/wallet';
import { encryptPhrase, writeSecretFile } from '@quittance/chains/keystore';
import { openWallet as openSolanaWallet } from '@quittance/chains/solana/wallet';
import { type Bus, connectBus } from '@quittance/shared/bus';
import type { RequestOf } from '@quittance/shared/commands';
import { ConfigError } from '@quittance/shared/config';
import { createLogger } from '@quittance/shared/logger';
import { eventually } from '@quittance/testkit/eventually';
import { SEED } from './service-client.ts';
import { type ServiceFixture, serviceSuite } from './service-fixture.ts';

const OTHER_SEED = `${'abandon '.repeat(11)}about`;

let fixture: ServiceFixture;
let invoices: Bus;
serviceSuite(async (opened) => {
  fixture = opened;
  const logger = createLogger('test', 'silent');
  invoices = await connectBus({ url: fixture.nats.url, service: 'invoices', logger });
});
afterAll(() => invoices?.close());

const start = (seed: string, more: Record<string, string> = {}) =>
  fixture.start({
    BITCOIN_RPC_URL: 'http://127.0.0.1:1',
    BITCOIN_NETWORK: 'regtest',
    WALLET_SEED: seed,
    ...more,
  });

const firstOf = (seed: string) => ({
  bitcoin: openBitcoinWallet('regtest', seed).address('deposit', 0),
  ethereum: openWallet(seed).depositAddress(0),
});
const chains = ['bitcoin', 'ethereum'] as const;

/** Asks until there is an answer: a replica that has started may not be listening yet. */
const derived = (request: RequestOf<'addresses.derive'>) =>
  eventually(async () => {
    const answer = await invoices.ask('addresses.derive', request);
    if (!answer.known) throw new Error(`no addresses were derived: ${answer.reason}`);
    return answer.reply;
  });

it('payouts starts from a keystore, with the keys of its recovery phrase', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'quittance-payouts-'));
  const files = {
    WALLET_KEYSTORE: join(dir, 'keystore.json'),
    WALLET_PASSPHRASE_FILE: join(dir, 'passphrase'),
  };
  try {
    writeSecretFile(files.WALLET_KEYSTORE, encryptPhrase(OTHER_SEED, 'a passphrase'));
    writeSecretFile(files.WALLET_PASSPHRASE_FILE, 'a passphrase\n');
    await start('', files);
    for (const chain of chains) {
      const reply = await derived({ chain, from: 0, count: 1, expected: ['another'] });
      expect(reply).toEqual({ addresses: [firstOf(OTHER_SEED)[chain]] });
    }
  } finally {
    await fixture.stopReplicas();
    rmSync(dir, { recursive: true });
  }
});

/** Derives addresses for invoices from this recovery phrase. `expected` may be addresses of another one. */
async function compared(seed: string, publicKeysOf: string): Promise<void> {
  await start(seed);
  try {
    for (const chain of chains) {
      const expected = [firstOf(publicKeysOf)[chain]];
      const reply = await derived({ chain, from: 0, count: 1, expected });
      expect(reply).toEqual({ addresses: [firstOf(seed)[chain]] });
    }
  } finally {
    await fixture.stopReplicas();
  }
}

it('a seed that does not match the public keys of invoices can still be replaced', async () => {
  await compared(OTHER_SEED, SEED);
  await compared(SEED, OTHER_SEED);
});

it('a seed whose addresses invoices assigns is bound to the database before anything is signed', async () => {
  await compared(SEED, SEED);
  const failure = await start(OTHER_SEED).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigError);
  const { hotAddress } = openBitcoinWallet('regtest', SEED);
  expect((failure as ConfigError).problems).toEqual([
    expect.stringContaining(`this database was used with ${hotAddress}`),
    expect.stringContaining(`this database was used with ${openWallet(SEED).hotAddress}`),
  ]);
  await compared(SEED, SEED);
});

it('derives addresses of Solana for invoices, and none of a chain that is not configured', async () => {
  const { hotAddress, depositAddress } = openSolanaWallet(SEED);
  const service = await start(SEED, {
    SOLANA_RPC_URL: 'http://127.0.0.1:1',
    SOLANA_NETWORK: 'local',
    SOLANA_USDC_MINT: hotAddress,
  });
  try {
    const count = 3;
    const reply = await derived({ chain: 'solana', from: 5, count });
    const addresses = Array.from({ length: count }, (_, i) => depositAddress(5 + i));
    expect(reply).toEqual({ addresses });
    const unknown = await invoices.ask('addresses.derive', { chain: 'polygon', from: 0, count: 1 });
    expect(unknown).toMatchObject({ known: false });
  } finally {
    await service.stop();
  }
});
