import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet as openEvmWallet } from '@quittance/chains/evm/wallet';
import { isRecoveryPhrase } from '@quittance/chains/keys';
import { encryptPhrase, openKeystore, writeSecretFile } from '@quittance/chains/keystore';
import { openWallet as openSolanaWallet } from '@quittance/chains/solana/wallet';
import { printed } from '@quittance/testkit/printed';
import { refusal } from '@quittance/testkit/refusal';
import { run } from './run.ts';

const WORDS = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const LEAST_COST = { n: 2 ** 14 };

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'quittance-wallet-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** What is at the terminal: answers in their order, and whether it shows anything. */
type Terminal = {
  answers?: string[];
  input?: string;
  isTerminal?: boolean;
  env?: Record<string, string>;
  /** The least work that a keystore may be; `usual` is what operators get, and takes half a second each time. */
  cost?: 'least' | 'usual';
};

async function wallet(
  args: string[],
  { answers, input, isTerminal = true, env = {}, cost = 'least' }: Terminal = {},
) {
  let shown = '';
  const left = [...(answers ?? [])];
  const said = await printed((to) =>
    run(['wallet', ...args], {
      ...{ env, cwd: dir, ...to },
      input: async () => input,
      ask: async (_question, echo) => (echo === 'hidden' && isTerminal ? left.shift() : undefined),
      showSecret: isTerminal ? (text) => (shown += text) : undefined,
      ...(cost === 'usual' ? {} : { keystoreCost: LEAST_COST }),
    }),
  );
  return { ...said, shown };
}

const path = (name: string) => join(dir, 'wallet', name);
const kept = () =>
  openKeystore(path('keystore.json'), readFileSync(path('passphrase'), 'utf8').trimEnd()).reveal();

test('init encrypts a new phrase, shows it once on the terminal, and writes it nowhere', async () => {
  const { code, out, err, shown } = await wallet(['init'], { cost: 'usual' });
  expect([code, err]).toEqual([0, '']);
  const words = [...shown.matchAll(/(\d+)\. ([a-z]+)/g)].map(([, , word]) => word).join(' ');
  expect(words.split(' ')).toHaveLength(24);
  expect(isRecoveryPhrase(words)).toBe(true);
  expect(kept()).toBe(words);
  const { kdf } = JSON.parse(readFileSync(path('keystore.json'), 'utf8'));
  expect(kdf).toMatchObject({ name: 'scrypt', n: 2 ** 17, r: 8, p: 1 });
  for (const file of ['keystore.json', 'passphrase']) {
    expect(statSync(path(file)).mode & 0o777).toBe(0o600);
    for (const three of [words.split(' ').slice(0, 3).join(' '), words.split(' ').slice(9, 12).join(' ')])
      expect(readFileSync(path(file), 'utf8') + out).not.toContain(three);
  }
  expect(statSync(join(dir, 'wallet')).mode & 0o777).toBe(0o700);
  expect(readFileSync(path('passphrase'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
  expect(out).toMatch(
    /^The recovery phrase is encrypted to wallet\/keystore.json, and its passphrase to wallet\/passphrase\./,
  );
});

test('init refuses to overwrite a keystore, and to make a phrase that no terminal shows', async () => {
  const unseen = await wallet(['init'], { isTerminal: false });
  expect(unseen).toMatchObject(refusal('on a terminal alone'));
  expect(existsSync(join(dir, 'wallet'))).toBe(false);
  await wallet(['init']);
  const before = kept();
  const again = await wallet(['init']);
  expect(again).toMatchObject({ ...refusal('not overwritten'), shown: '' });
  expect(kept()).toBe(before);
});

test('init takes a phrase from standard input, from a file and from the terminal, and shows it on none', async () => {
  writeFileSync(join(dir, 'words'), `${WORDS}\n`);
  const ways: [string[], Terminal][] = [
    [['--phrase-file', '-'], { input: ` ${WORDS.replaceAll(' ', '\n')}\n`, isTerminal: false }],
    [['--phrase-file', 'words'], { isTerminal: false }],
    [['--restore'], { answers: [WORDS.toUpperCase()] }],
  ];
  for (const [args, terminal] of ways) {
    const said = await wallet(['init', ...args], terminal);
    expect(said).toMatchObject({ code: 0, err: '', shown: '' });
    expect(said.out).not.toContain('winner');
    expect(kept()).toBe(WORDS);
    rmSync(join(dir, 'wallet'), { recursive: true });
  }
});

test.each<[string, string[], Terminal, string]>([
  ['words with a wrong checksum', ['--phrase-file', '-'], { input: `${WORDS} year` }, 'not a BIP-39'],
  ['an empty standard input', ['--phrase-file', '-'], {}, 'Standard input is empty'],
  ['--restore without a terminal', ['--restore'], { isTerminal: false }, 'on a terminal'],
  ['a short passphrase', ['--ask-passphrase'], { answers: ['short', 'short'] }, 'at least 12 characters'],
  ['two passphrases', ['--ask-passphrase'], { answers: ['a passphrase 1', 'a passphrase 2'] }, 'differ'],
  ['an argument', ['words'], {}, 'too many arguments'],
])('init refuses %s, and prints no word', async (_what, args, terminal, why) => {
  const refused = await wallet(['init', ...args], terminal);
  expect(refused).toMatchObject({ out: '', shown: '', err: expect.stringContaining(why) });
  expect(refused.code).not.toBe(0);
  expect(refused.err).not.toContain('winner');
  expect(existsSync(path('keystore.json'))).toBe(false);
});

test('a passphrase that is typed is written nowhere, and opens the keystore', async () => {
  const passphrase = 'typed by a person';
  const init = ['init', '--ask-passphrase', '--phrase-file', '-', '--keystore', 'k.json'];
  const made = await wallet(init, { input: WORDS, answers: [passphrase, passphrase] });
  expect(made).toMatchObject({ code: 0, err: '' });
  expect(existsSync(join(dir, 'wallet'))).toBe(false);
  const show = ['show-xpub', '--json'];
  const env = { WALLET_KEYSTORE: 'k.json', BITCOIN_NETWORK: 'regtest' };
  const shown = await wallet(show, { answers: [passphrase], env });
  const { accountXpub, hotAddress } = openBitcoinWallet('regtest', WORDS);
  const ethereum = openEvmWallet(WORDS);
  expect(JSON.parse(shown.out)).toEqual({
    xpubs: {
      BITCOIN_XPUB: accountXpub,
      ETHEREUM_XPUB: ethereum.accountXpub,
      BASE_XPUB: ethereum.accountXpub,
      POLYGON_XPUB: ethereum.accountXpub,
    },
    hot_addresses: {
      BITCOIN_HOT_ADDRESS: hotAddress,
      ETHEREUM_HOT_ADDRESS: ethereum.hotAddress,
      BASE_HOT_ADDRESS: ethereum.hotAddress,
      POLYGON_HOT_ADDRESS: ethereum.hotAddress,
      SOLANA_HOT_ADDRESS: openSolanaWallet(WORDS).hotAddress,
    },
  });
  const text = await wallet(['show-xpub'], { answers: [passphrase], env });
  expect(text.out).toMatch(
    new RegExp(
      `^BITCOIN_XPUB=${accountXpub}\nETHEREUM_XPUB=.*\n.*\n.*\nBITCOIN_HOT_ADDRESS=${hotAddress}\nETHEREUM_HOT_ADDRESS=.*\n.*\n.*\nSOLANA_HOT_ADDRESS=.*\n$`,
    ),
  );
  const wrong = await wallet(show, { answers: ['another one'], env });
  expect(wrong).toMatchObject(refusal('the passphrase is not the one'));
  const network = await wallet(show, { answers: [passphrase], env: { ...env, BITCOIN_NETWORK: 'regtst' } });
  expect(network).toMatchObject(refusal('BITCOIN_NETWORK: must be one of'));
});

test('backup-check tells right words from wrong ones, and prints none', async () => {
  // Less work than `init` asks for.
  mkdirSync(join(dir, 'wallet'));
  writeSecretFile(path('keystore.json'), encryptPhrase(WORDS, 'a passphrase', LEAST_COST));
  writeSecretFile(path('passphrase'), 'a passphrase\n');
  const check = (typed: string) => wallet(['backup-check'], { answers: [typed] });
  expect(await check(`  ${WORDS.toUpperCase().replaceAll(' ', '   ')} `)).toMatchObject({
    code: 0,
    out: 'The paper is right: these are the words of the keystore.\n',
  });
  const wrong = [
    WORDS.replace('sausage', 'sausages'),
    WORDS.replace('year wave', 'wave year'),
    `${WORDS} zoo`,
    '',
  ];
  for (const typed of wrong) {
    const { code, out, err } = await check(typed);
    expect({ code, out, err }).toEqual({
      code: 1,
      out: expect.stringMatching(/^The paper is WRONG: /),
      err: '',
    });
    for (const word of ['sausage', 'winner', 'zoo']) expect(out).not.toContain(word);
  }
  const unseen = await wallet(['backup-check'], { isTerminal: false });
  expect(unseen).toMatchObject(refusal('on a terminal'));
});

test('a wallet that is not there is named', async () => {
  expect(await wallet(['show-xpub'])).toMatchObject({
    code: 1,
    err: 'There is no keystore at wallet/keystore.json: give --keystore, or make one by `wallet init`.\n',
  });
});
