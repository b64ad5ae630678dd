import { beforeEach, expect, it } from '@jest/globals';
import { addressOf } from '@quittance/chains/evm/wallet';
import { openHotKey } from '@quittance/kms/hot-keys';
import { type KmsKeyName, readKeyName } from '@quittance/kms/key-name';
import { ConfigError } from '@quittance/shared/config';
import { startFakeKms } from '@quittance/testkit/fake-kms';
import { signerSuite } from './signer-fixture.ts';
import { aTransfer } from './signer-orders.ts';
import { openSignerService } from './signer-service-fixture.ts';

/** The service with a hot wallet in a KMS, here a local fake of both. */

const fixture = await signerSuite();
const kms = await startFakeKms();
const { aws, google } = kms.keys;
Object.assign(process.env, kms.environment);
const googleEndpoint = kms.environment['GOOGLE_KMS_ENDPOINT'] ?? '';
const { start: startWith, signed: signedOrder } = await openSignerService(fixture);
const start = (given: Record<string, string>) => startWith({ GOOGLE_KMS_ENDPOINT: googleEndpoint, ...given });
fixture.database.finally(kms.stop);
beforeEach(() => {
  kms.behaviour = 'right';
});
it.each(['aws', 'google'] as const)(
  'a transfer by a key in %s has the same bytes after a restart, and nothing is signed while the KMS hangs',
  async (provider) => {
    const key = kms.keys[provider].secp256k1;
    const { publicKey } = await openHotKey('evm', readKeyName(key) as KmsKeyName, { googleEndpoint });
    const hot = addressOf(publicKey);
    const signed = (payout: string, nonce: number) =>
      signedOrder(aTransfer(fixture.hold(payout), { hot, nonce }));
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
