import { afterAll, expect, test } from '@jest/globals';
import { startFakeKms } from '@quittance/testkit/fake-kms';
import { printed } from '@quittance/testkit/printed';
import { run } from './run.ts';

const fake = await startFakeKms();
Object.assign(process.env, fake.environment);
afterAll(() => fake.stop());

const hotAddress = (chain: string, key: string, env: Record<string, string> = {}) =>
  printed((to) => run(['wallet', 'hot-address', chain, key], { env, cwd: '/nowhere', ...to }));

test.each([
  ['ethereum', 'secp256k1', /^ETHEREUM_HOT_ADDRESS=0x[0-9a-f]{40}\n$/],
  ['bitcoin', 'secp256k1', /^BITCOIN_HOT_ADDRESS=bc1q[0-9a-z]{38}\n$/],
  ['solana', 'ed25519', /^SOLANA_HOT_ADDRESS=[1-9A-HJ-NP-Za-km-z]{32,44}\n$/],
] as const)('prints the hot wallet of a key in a KMS on %s', async (chain, type, printed) => {
  const shown = await hotAddress(chain, fake.keys.aws[type]);
  expect(shown).toEqual({ code: 0, out: expect.stringMatching(printed), err: '' });
});

test('a key of another curve, of another form, or on no network is refused', async () => {
  const { aws } = fake.keys;
  const refused = await hotAddress('solana', aws.secp256k1);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('one of ECC_NIST_EDWARDS25519') });
  expect((await hotAddress('ethereum', 'alias/quittance')).err).toContain('aws-kms: and the ARN of a key');
  const nowhere = await hotAddress('bitcoin', aws.secp256k1, { BITCOIN_NETWORK: 'moonnet' });
  expect(nowhere.err).toContain('BITCOIN_NETWORK must be one of');
});
