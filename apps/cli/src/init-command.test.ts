import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { depositAddresses as bitcoinAddresses, openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { depositAddresses as evmAddresses, openWallet as openEvmWallet } from '@quittance/chains/evm/wallet';
import { encryptPhrase, writeSecretFile } from '@quittance/chains/keystore';
import { openWallet as openSolanaWallet } from '@quittance/chains/solana/wallet';
import { newGatewayKeys, publicKeyOf } from '@quittance/shared/gateway-keys';
import { printed } from '@quittance/testkit/printed';
import { refusal } from '@quittance/testkit/refusal';
import { run } from './run.ts';

const EXAMPLE = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
const WORDS = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';

/** A folder with the keystore of WORDS, as `wallet init` leaves it. */
const dir = mkdtempSync(join(tmpdir(), 'quittance-init-'));
mkdirSync(join(dir, 'wallet'));
writeSecretFile(join(dir, 'wallet/keystore.json'), encryptPhrase(WORDS, 'a passphrase', { n: 2 ** 14 }));
writeSecretFile(join(dir, 'wallet/passphrase'), 'a passphrase\n');
afterAll(() => rmSync(dir, { recursive: true }));

const filled = (env: string | undefined, ...more: string[]) =>
  printed((to) => run(['init', ...more], { env: {}, cwd: dir, ...to, input: async () => env }));

/** The example, filled once for all tests: its keys take a while. */
const filledExample = filled(EXAMPLE);

const QUESTION = `TRUSTED_PROXIES is empty. Is a proxy or load balancer in front of the gateway? All customers behind one that is not named count as one client.
Say which by --proxy: uniquelocal (on this machine, or in a private network beside it), its addresses or networks such as 203.0.113.7,10.0.0.0/8, or none.
`;

const settings = (env: string): Record<string, string> =>
  Object.fromEntries(
    env
      .split('\n')
      .flatMap((line) =>
        [/^([A-Z0-9_]+)=(.*)$/.exec(line)?.slice(1) ?? []].filter((pair) => pair.length > 0),
      ),
  );

test('the example becomes an .env that lacks nothing but the nodes, and says no secret to the terminal', async () => {
  const { code, out, err } = await filledExample;
  expect(code).toBe(0);
  const [before, after] = [settings(EXAMPLE), settings(out)];
  expect(Object.keys(after)).toEqual(Object.keys(before));
  const empty = Object.keys(after).filter((name) => after[name] === '');
  expect(
    empty.filter(
      (name) =>
        !/_RPC_URL$|^TRUSTED_PROXIES$|^MIN_CONFIRMATIONS$|^UNPROVEN_HOLDS_UNTIL$|^SIGNER_LIMITS$|^SMTP_URL$|^MAIL_FROM$|^OTEL_/.test(
          name,
        ),
    ),
  ).toEqual([]);
  for (const [name, value] of Object.entries(before)) if (value !== '') expect(after[name]).toBe(value);

  const made = Object.keys(after).filter((name) => before[name] !== after[name]);
  expect(err).toBe(`Filled: ${made.join(', ')}.\n${QUESTION}`);
  const secrets = made.filter((name) => /PASSWORD|SECRET/.test(name)).map((name) => after[name]);
  for (const secret of secrets) expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(secrets).size).toBe(secrets.length);

  expect(publicKeyOf(after['GATEWAY_PRIVATE_KEY'] ?? '')).toBe(after['GATEWAY_PUBLIC_KEY']);
  expect(after['WEBHOOKS_SIGNING_KEY']).toMatch(/^whsk_[A-Za-z0-9+/]{43}=$/);

  expect(after).toMatchObject({
    WALLET_KEYSTORE: 'wallet/keystore.json',
    WALLET_PASSPHRASE_FILE: 'wallet/passphrase',
  });
  expect(out).not.toMatch(/abandon|a passphrase/);
  expect(bitcoinAddresses('mainnet', after['BITCOIN_XPUB'] ?? '').at(3)).toBe(
    openBitcoinWallet('mainnet', WORDS).address('deposit', 3),
  );
  expect(evmAddresses(after['ETHEREUM_XPUB'] ?? '').at(3)).toBe(openEvmWallet(WORDS).depositAddress(3));
  expect(after).toMatchObject({
    BITCOIN_HOT_ADDRESS: openBitcoinWallet('mainnet', WORDS).hotAddress,
    ETHEREUM_HOT_ADDRESS: openEvmWallet(WORDS).hotAddress,
    SOLANA_HOT_ADDRESS: openSolanaWallet(WORDS).hotAddress,
  });
});

test('what has a value keeps it, and a file that was filled stays as it is', async () => {
  const { out } = await filledExample;
  const nothing = `Nothing was empty that could be filled.\n${QUESTION}`;
  expect(await filled(out)).toEqual({ code: 0, out, err: nothing });
  const own = `# mine\r\nLEDGER_DATABASE_PASSWORD=x\r\nBITCOIN_NETWORK=regtest\r\nBITCOIN_XPUB=\r\nWALLET_SEED="${WORDS}"\r\n`;
  const { accountXpub } = openBitcoinWallet('regtest', WORDS);
  const mine = await filled(own);
  expect(mine.out).toMatch(
    new RegExp(
      `^# mine\nLEDGER_DATABASE_PASSWORD=x\nBITCOIN_NETWORK=regtest\nBITCOIN_XPUB=${accountXpub}\nWALLET_SEED="${WORDS}"\n$`,
    ),
  );
  expect(accountXpub).toMatch(/^tpub/);
});

const OTHER_WORDS = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

test('an .env of a former release keeps its words, and one without them takes the keystore', async () => {
  const former = `BITCOIN_XPUB=\nWALLET_SEED=${OTHER_WORDS}\nWALLET_KEYSTORE=\nWALLET_PASSPHRASE_FILE=\n`;
  const { code, out } = await filled(former);
  expect(code).toBe(0);
  expect(settings(out)).toEqual({
    BITCOIN_XPUB: openBitcoinWallet('mainnet', OTHER_WORDS).accountXpub,
    WALLET_SEED: OTHER_WORDS,
    WALLET_KEYSTORE: '',
    WALLET_PASSPHRASE_FILE: '',
  });
  // Its words are in the keystore now, and the line with them is gone.
  const moved = await filled('# The hot wallets of these words, which pay out: …\nWALLET_KEYSTORE=\n');
  expect(moved.out).toBe('WALLET_KEYSTORE=wallet/keystore.json\n');
  const both = await filled(`WALLET_SEED=${OTHER_WORDS}\nWALLET_KEYSTORE=wallet/keystore.json\n`);
  expect(both).toMatchObject(refusal(/^WALLET_SEED and WALLET_KEYSTORE: /));
  const none = await filled('WALLET_SEED=\n');
  expect(none).toMatchObject(refusal(/^WALLET_SEED is empty and no longer/));
});

test('public keys of another phrase than the keystore’s are refused, and which lines, and what to do', async () => {
  const { out: example } = await filledExample;
  const xpub = openBitcoinWallet('mainnet', OTHER_WORDS).accountXpub;
  const changed = example.replace(/^BITCOIN_XPUB=.*$/m, `BITCOIN_XPUB=${xpub}`);
  const refused = await filled(changed);
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toBe(
    'BITCOIN_XPUB: not of the recovery phrase in WALLET_KEYSTORE, which could not spend what is paid there. ' +
      'Give the phrase they are of, or empty these lines and they are filled anew; ' +
      'addresses already given out need the old phrase.\n',
  );

  const emptied = changed.replace(/^((?:BITCOIN|ETHEREUM)_XPUB)=.*$/gm, '$1=');
  const { code, out, err } = await filled(emptied);
  expect({ code, err }).toEqual({ code: 0, err: `Filled: BITCOIN_XPUB, ETHEREUM_XPUB.\n${QUESTION}` });
  expect(settings(out)).toMatchObject({
    BITCOIN_XPUB: openBitcoinWallet('mainnet', WORDS).accountXpub,
    ETHEREUM_XPUB: openEvmWallet(WORDS).accountXpub,
  });
});

test.each([
  [
    'a keystore that is not there',
    'WALLET_KEYSTORE=none.json\n',
    'WALLET_KEYSTORE: there is no file none.json.',
  ],
  [
    'a passphrase that is not there',
    'WALLET_KEYSTORE=\nWALLET_PASSPHRASE_FILE=none\n',
    'WALLET_PASSPHRASE_FILE: there is no file none.',
  ],
  [
    'a file that is no keystore',
    'WALLET_KEYSTORE=wallet/passphrase\n',
    'wallet/passphrase: this is no keystore of this release: not JSON.',
  ],
  [
    'a passphrase of another keystore',
    'WALLET_KEYSTORE=\nWALLET_PASSPHRASE_FILE=wallet/keystore.json\n',
    'the passphrase is not the one of this keystore',
  ],
])('%s is refused', async (_what, env, why) => {
  expect(await filled(env)).toMatchObject(refusal(why));
});

test.each<[string, string | undefined, string]>([
  ['words that are none', `WALLET_SEED=${WORDS} zoo\n`, 'WALLET_SEED'],
  ['no file', undefined, '< .env.example'],
  ['an empty file', '\n', '< .env.example'],
  [
    'a network that there is not',
    `BITCOIN_NETWORK=regtst\nBITCOIN_XPUB=\nWALLET_SEED=${WORDS}\n`,
    'BITCOIN_NETWORK: must be one of mainnet, testnet, signet, regtest.\n',
  ],
])('%s is refused, and no word of a recovery phrase is printed', async (_what, env, why) => {
  const refused = await filled(env);
  expect(refused).toMatchObject(refusal(why));
  expect(refused.err).not.toContain('abandon');
});

test('in JSON', async () => {
  const { out } = await filled('POSTGRES_PASSWORD=\n', '--json');
  const { filled: names, env } = JSON.parse(out);
  expect(names).toEqual(['POSTGRES_PASSWORD']);
  expect(env).toMatch(/^POSTGRES_PASSWORD=[0-9a-f]{64}\n$/);
});

test('it asks for the proxy in front until it is told, and puts it into the file', async () => {
  for (const proxy of ['uniquelocal', '203.0.113.7,10.0.0.0/8', 'none']) {
    const told = await filled(EXAMPLE, '--proxy', proxy);
    expect(told).toMatchObject({ code: 0, err: expect.not.stringContaining('proxy') });
    expect(settings(told.out)).toMatchObject({ TRUSTED_PROXIES: proxy });
    expect(await filled(told.out)).toMatchObject({ err: 'Nothing was empty that could be filled.\n' });
    expect(await filled(told.out, '--proxy', proxy)).toMatchObject({ code: 0, out: told.out });
  }
});

test.each([
  ['TRUSTED_PROXIES=\n', 'a\nPOSTGRES_PASSWORD=x', '--proxy: must be addresses or networks'],
  ['POSTGRES_PASSWORD=\n', 'none', '--proxy: the file has no line TRUSTED_PROXIES='],
  ['TRUSTED_PROXIES=10.0.0.1\n', 'none', '--proxy: TRUSTED_PROXIES is 10.0.0.1 already'],
])('a proxy that cannot be put into the file is refused: %j, %j', async (env, proxy, why) => {
  const refused = await filled(env, '--proxy', proxy);
  expect(refused).toMatchObject(refusal(why));
});

test('an .env of the former release gets the keys of the gateway, and keeps the secret of its claim links', async () => {
  const former = `IDENTITY_SECRET=${'f'.repeat(64)}\nGATEWAY_PRIVATE_KEY=\nGATEWAY_PUBLIC_KEY=\nCLAIM_LINKS_SECRET=\n`;
  const { code, out } = await filled(former);
  expect(code).toBe(0);
  const after = settings(out);
  expect(after['CLAIM_LINKS_SECRET']).toBe('f'.repeat(64));
  expect(publicKeyOf(after['GATEWAY_PRIVATE_KEY'] ?? '')).toBe(after['GATEWAY_PUBLIC_KEY']);
});

describe('the keys of the gateway', () => {
  const [one, other] = [newGatewayKeys(), newGatewayKeys()];
  const env = (privateKey: string, publicKey: string) =>
    `GATEWAY_PRIVATE_KEY=${privateKey}\nGATEWAY_PUBLIC_KEY=${publicKey}\n`;

  test('that are in the file stay, also while they are being changed, and a public key is derived', async () => {
    for (const known of [one.publicKey, `${other.publicKey},${one.publicKey}`]) {
      const own = env(one.privateKey, known);
      expect(await filled(own)).toMatchObject({ code: 0, out: own });
    }
    expect(await filled(env(one.privateKey, ''))).toMatchObject({
      code: 0,
      out: env(one.privateKey, one.publicKey),
    });
  });

  test.each([
    [
      'no private key',
      env('', one.publicKey),
      'GATEWAY_PRIVATE_KEY is empty, and a new key cannot be that of',
    ],
    ['a private key that is none', env('gwsk_x', ''), 'GATEWAY_PRIVATE_KEY: must be gwsk_ and 32 bytes'],
    [
      'another public key',
      env(one.privateKey, other.publicKey),
      `GATEWAY_PUBLIC_KEY: has not the public key of`,
    ],
  ])('%s is refused, and no private key is printed', async (_what, own, why) => {
    const refused = await filled(own);
    expect(refused).toMatchObject(refusal(why));
    expect(refused.err).not.toContain(one.privateKey);
  });
});
