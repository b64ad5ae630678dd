import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { addressOf } from '@quittance/chains/evm/wallet';
import { toWire } from '@quittance/chains/signing';
import { openHotKey } from '@quittance/kms/hot-keys';
import { type KmsKeyName, readKeyName } from '@quittance/kms/key-name';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { commandSubject, type ReplyOf, type RequestOf } from '@quittance/shared/commands';
import { ConfigError, loadConfig } from '@quittance/shared/config';
import { createLogger } from '@quittance/shared/logger';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { startFakeKms } from '@quittance/testkit/fake-kms';
import { configSchema } from '../src/config.ts';
import { startSigner } from '../src/service.ts';
import { signerSuite } from './signer-fixture.ts';
import { aTransfer, SEED } from './signer-orders.ts';

/** The service with a hot wallet in a KMS, here a local fake of both. */

const fixture = await signerSuite();
const kms = await startFakeKms();
const { aws, google } = kms.keys;
Object.assign(process.env, kms.environment);
const logger = createLogger('test', 'silent');
let nats: Awaited<ReturnType<typeof testNats>>;
let payouts: Bus;
let ledger: Bus;
beforeAll(async () => {
  nats = await testNats();
  payouts = await connectBus({ url: nats.url, service: 'payouts', logger });
  ledger = await connectBus({ url: nats.url, service: 'ledger', logger });
  ledger.answer(commandSubject('holds.describe'), async (request) => {
    const asked = await fixture.around.bus.ask('holds.describe', request as RequestOf<'holds.describe'>);
    return asked.known ? asked.reply : Promise.reject(new Error(asked.reason));
  });
});
beforeEach(() => {
  kms.behaviour = 'right';
});
afterAll(async () => {
  await Promise.all([payouts?.close(), ledger?.close()]);
  await nats?.stop();
  await kms.stop();
});

const start = (given: Record<string, string>) =>
  startSigner(
    loadConfig('signer', configSchema, {
      DATABASE_URL: fixture.database.urlOf('signer'),
      NATS_URL: nats.url,
      LOG_LEVEL: 'silent',
      ETHEREUM_RPC_URL: 'http://127.0.0.1:1',
      ETHEREUM_CHAIN_ID: '31337',
      WALLET_SEED: SEED,
      GOOGLE_KMS_ENDPOINT: kms.environment['GOOGLE_KMS_ENDPOINT'] ?? '',
      ...given,
    }),
  );

it.each(['aws', 'google'] as const)(
  'a transfer by a key in %s has the same bytes after a restart, and nothing is signed while the KMS hangs',
  async (provider) => {
    const key = kms.keys[provider].secp256k1;
    const googleEndpoint = kms.environment['GOOGLE_KMS_ENDPOINT'];
    const { publicKey } = await openHotKey('evm', readKeyName(key) as KmsKeyName, { googleEndpoint });
    const signed = (payout: string, nonce: number): Promise<ReplyOf<'transactions.sign'>> =>
      eventually(async () => {
        const { order, payouts: of } = aTransfer(fixture.hold(payout), { hot: addressOf(publicKey), nonce });
        const answer = await payouts.ask('transactions.sign', {
          chain: 'ethereum',
          asked_at: new Date().toISOString(),
          only_known: false,
          orders: [{ order: toWire(order), payouts: [...of] }],
        });
        if (!answer.known) throw new Error(`nothing was signed: ${answer.reason}`);
        return answer.reply;
      });
    const first = await start({ ETHEREUM_HOT_KEY: key });
    const before = await signed('1', 0);
    kms.behaviour = 'hangs';
    expect(await signed('2', 1)).toMatchObject({
      signed: [],
      refused: { because: 'the KMS with the key of the hot wallet did not sign' },
    });
    kms.behaviour = 'right';
    expect((await signed('2', 1)).refused).toBeNull();
    await first.stop();
    const again = await start({ ETHEREUM_HOT_KEY: key });
    expect(await signed('1', 0)).toEqual(before);
    await again.stop();
  },
  180_000,
);

it('keys of another curve and keys that are not there refuse the start, all at once', async () => {
  const failure = await start({
    ETHEREUM_HOT_KEY: aws.ed25519,
    SOLANA_RPC_URL: 'http://127.0.0.1:1',
    SOLANA_NETWORK: 'local',
    SOLANA_HOT_KEY: google.ed25519.replace('ed25519', 'another'),
  }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigError);
  expect((failure as ConfigError).problems).toEqual([
    'ETHEREUM_HOT_KEY: the key is of ECC_NIST_EDWARDS25519 for SIGN_VERIFY: one of ECC_SECG_P256K1 for SIGN_VERIFY is needed',
    'SOLANA_HOT_KEY: Google Cloud KMS: 404 NOT_FOUND: NOT_FOUND of the fake',
  ]);
});

it('a KMS that does not answer refuses the start without blaming the settings', async () => {
  kms.behaviour = 'fails';
  const failure = await start({ ETHEREUM_HOT_KEY: aws.secp256k1 }).catch((error: unknown) => error);
  expect(failure).not.toBeInstanceOf(ConfigError);
  expect(String(failure)).toMatch(/ETHEREUM_HOT_KEY: AWS KMS: .*KMSInternalException/);
});
