import { expect, it } from '@jest/globals';
import { loadConfig } from '@quittance/shared/config';
import { configSchema } from './config.ts';

const SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const right = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  NATS_URL: 'nats://127.0.0.1:1',
  ETHEREUM_RPC_URL: 'http://127.0.0.1:1',
  ETHEREUM_CHAIN_ID: '31337',
  WALLET_SEED: SEED,
};
const load = (given: Record<string, string>) => loadConfig('signer', configSchema, { ...right, ...given });

it('needs no address, no port and no gateway, and has no limits unless they are given', () => {
  const { SIGNER_LIMITS, RECONCILED_WITHIN_SECONDS } = load({});
  expect([SIGNER_LIMITS, RECONCILED_WITHIN_SECONDS]).toEqual([{}, 0]);
});

it('reads limits in whole units', () => {
  const limits =
    '{"ETH":{"per_payout":"10","fees_per_24h":"0.5"},"USDC_ERC20":{"per_account_24h":"0.000001"}}';
  expect(load({ SIGNER_LIMITS: limits }).SIGNER_LIMITS).toEqual({
    ETH: { per_payout: 10n ** 19n, fees_per_24h: 5n * 10n ** 17n },
    USDC_ERC20: { per_account_24h: 1n },
  });
});

it.each([
  ['10 ETH', 'must be JSON: by asset its limits, each a text such as "0.5"'],
  ['{"ETH":{"per_payout":10}}', 'must be JSON: by asset its limits, each a text such as "0.5"'],
  ['{"DOGE":{"per_payout":"1"}}', 'knows no asset DOGE'],
  ['{"ETH":{"per_day":"1"}}', 'knows no limit per_day of ETH'],
  [
    '{"USDC_ERC20":{"fees_per_24h":"1"}}',
    'fees are not paid in USDC_ERC20: give fees_per_24h for the native asset',
  ],
  ['{"USDC_ERC20":{"per_hour":"0.0000001"}}', 'per_hour of USDC_ERC20 is no amount of it'],
  ['{"ETH":{"per_hour":"-1"}}', 'per_hour of ETH is no amount of it'],
])('refuses the limits %s', (text, problem) => {
  expect(() => load({ SIGNER_LIMITS: text })).toThrow(
    expect.objectContaining({ problems: [`SIGNER_LIMITS: ${problem}`] }),
  );
});

it.each([
  [{}, 'WALLET_KEYSTORE: is required, with WALLET_PASSPHRASE_FILE: `quittance wallet init` makes both'],
  [{ WALLET_SEED: `${SEED} yellow` }, 'WALLET_SEED: must be a BIP-39 recovery phrase'],
  [
    { WALLET_SEED: SEED, WALLET_KEYSTORE: 'k' },
    'WALLET_SEED: is given beside WALLET_KEYSTORE: remove it when the keystore holds its words',
  ],
  [{ WALLET_KEYSTORE: 'k' }, 'WALLET_PASSPHRASE_FILE: is required with WALLET_KEYSTORE'],
  [{ WALLET_PASSPHRASE_FILE: 'p' }, 'WALLET_KEYSTORE: is required with WALLET_PASSPHRASE_FILE'],
])('one wallet is required: %j is refused', (given, problem) => {
  expect(() => load({ WALLET_SEED: '', ...given })).toThrow(expect.objectContaining({ problems: [problem] }));
});

it('a chain is required', () => {
  expect(() => load({ ETHEREUM_RPC_URL: '' })).toThrow(/BITCOIN_RPC_URL or .*: is required/);
});

it('names the key of a hot wallet in a KMS, and says what to write when it is none', () => {
  const arn = 'arn:aws:kms:eu-central-1:111122223333:key/1';
  expect(load({ ETHEREUM_HOT_KEY: `aws-kms:${arn}` }).ETHEREUM_HOT_KEY).toEqual({
    kms: 'aws',
    arn,
    region: 'eu-central-1',
  });
  expect(load({}).ETHEREUM_HOT_KEY).toBeUndefined();
  expect(() => load({ SOLANA_HOT_KEY: 'alias/quittance' })).toThrow(
    /SOLANA_HOT_KEY: must be aws-kms: and the ARN of a key .* or google-kms: and the version of a key/,
  );
});
