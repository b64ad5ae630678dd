import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet } from '@quittance/chains/evm/wallet';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { ConfigError } from '@quittance/shared/config';
import { createLogger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { environment, SEED, startService } from './service-client.ts';

const OTHER_SEED = `${'abandon '.repeat(11)}about`;

let database: TestDatabase;
let nats: Awaited<ReturnType<typeof testNats>>;
let invoices: Bus;
beforeAll(async () => {
  [database, nats] = await Promise.all([testDatabase(), testNats()]);
  invoices = await connectBus({ url: nats.url, service: 'invoices', logger: createLogger('test', 'silent') });
});
afterAll(async () => {
  await invoices?.close();
  await nats?.stop();
  await database?.drop();
});

const start = (seed: string) =>
  startService(
    {
      ...environment(database.urlOf('payouts'), nats.url),
      BITCOIN_RPC_URL: 'http://127.0.0.1:1',
      BITCOIN_NETWORK: 'regtest',
      WALLET_SEED: seed,
    },
    {},
  );

const firstOf = (seed: string) => ({
  bitcoin: openBitcoinWallet('regtest', seed).address('deposit', 0),
  ethereum: openWallet(seed).depositAddress(0),
});
const chains = ['bitcoin', 'ethereum'] as const;

/** Derives addresses for invoices from this recovery phrase. `expected` may be addresses of another one. */
async function compared(seed: string, publicKeysOf: string): Promise<void> {
  const service = await start(seed);
  try {
    for (const chain of chains) {
      const expected = [firstOf(publicKeysOf)[chain]];
      const answer = await invoices.ask('addresses.derive', { chain, from: 0, count: 1, expected });
      expect(answer).toEqual({ known: true, reply: { addresses: [firstOf(seed)[chain]] } });
    }
  } finally {
    await service.stop();
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
