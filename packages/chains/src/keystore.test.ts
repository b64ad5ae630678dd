import { createDecipheriv, scryptSync } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { newRecoveryPhrase } from './keys.ts';
import { decryptPhrase, encryptPhrase, openKeystore, readPassphrase, writeSecretFile } from './keystore.ts';

/** The least that is read, so that a test may try many. */
const CHEAP = { n: 2 ** 14 };
const PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const PASSPHRASE = 'correct horse battery staple';
const keystore = encryptPhrase(PHRASE, PASSPHRASE, CHEAP);
const edited = (change: (parsed: { kdf: Record<string, unknown> } & Record<string, unknown>) => void) => {
  const parsed = JSON.parse(keystore);
  change(parsed);
  return `${JSON.stringify(parsed, null, 2)}\n`;
};

const dir = mkdtempSync(join(tmpdir(), 'quittance-keystore-'));
afterAll(() => rmSync(dir, { recursive: true }));

test.each([12, 24] as const)('a phrase of %d words comes out of its keystore', (words) => {
  const phrase = newRecoveryPhrase(words);
  const text = encryptPhrase(`  ${phrase.replaceAll(' ', '\n')} `, 'ünïcode pass', CHEAP);
  const opened = decryptPhrase(text, 'ünïcode pass'.normalize('NFD'));
  expect(opened.reveal()).toBe(phrase);
  expect(inspect(opened)).not.toContain(phrase.split(' ')[0]);
  // Nothing is written but digits where another keystore has them: `version` is a word of BIP-39 too.
  const formOf = (one: string) => one.replaceAll(/"[0-9a-f]{24,}"/g, '"…"');
  expect(formOf(text)).toBe(formOf(keystore));
  expect(text).not.toContain(Buffer.from(mnemonicToEntropy(phrase, wordlist)).toString('hex'));
});

test('two keystores of one phrase have nothing in common but their form', () => {
  const [one, other] = [keystore, encryptPhrase(PHRASE, PASSPHRASE, CHEAP)].map((text) => JSON.parse(text));
  expect(one.kdf.salt).not.toBe(other.kdf.salt);
  expect(one.cipher.nonce).not.toBe(other.cipher.nonce);
  expect(one.ciphertext).not.toBe(other.ciphertext);
});

test('the passphrase of a person is stretched by 128 MiB of scrypt', () => {
  const { kdf } = JSON.parse(encryptPhrase(PHRASE, PASSPHRASE));
  expect(kdf).toMatchObject({ name: 'scrypt', n: 131_072, r: 8, p: 1 });
});

test('another passphrase, and none, does not open a keystore', () => {
  expect(() => decryptPhrase(keystore, `${PASSPHRASE} `)).toThrow('the passphrase is not the one');
  expect(() => decryptPhrase(keystore, '')).toThrow('the passphrase is empty');
  expect(() => encryptPhrase(PHRASE, '', CHEAP)).toThrow('the passphrase is empty');
});

test('a keystore with any byte changed, taken away or added is refused', () => {
  for (let at = 0; at < keystore.length; at++) {
    // Where only decrypting can tell, which takes a while, one digit of three.
    if (/^[0-9a-f]{4}$/.test(keystore.slice(at - 2, at + 2)) && at % 3 > 0) continue;
    // Another digit where it is one, so that what is parsed is still a keystore wherever it can be.
    const other = keystore[at] === '1' ? '2' : '1';
    for (const there of [other, '', `${keystore[at]} `, `${keystore[at]}0`]) {
      const changed = keystore.slice(0, at) + there + keystore.slice(at + 1);
      expect(() => decryptPhrase(changed, PASSPHRASE)).toThrow(/keystore/);
    }
  }
});

test('the format is as documented: scrypt, AES-256-GCM, and the header as associated data', () => {
  const { ciphertext, ...header } = JSON.parse(keystore);
  const { n: N, r, p, salt } = header.kdf;
  const key = scryptSync(PASSPHRASE, Buffer.from(salt, 'hex'), 32, { N, r, p });
  const bytes = Buffer.from(ciphertext, 'hex');
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(header.cipher.nonce, 'hex'));
  decipher.setAAD(Buffer.from(JSON.stringify(header)));
  decipher.setAuthTag(bytes.subarray(-16));
  const entropy = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]);
  // The entropy of these words in the test vectors of BIP-39.
  expect(entropy.toString('hex')).toBe('7f'.repeat(16));
});

test('a keystore with the salt or the cost of another does not open', () => {
  // What no other check sees: the form is right and written in the one way.
  for (const [name, value] of [
    ['n', 2 ** 15],
    ['p', 2],
    ['salt', '0'.repeat(32)],
  ] as const)
    expect(() =>
      decryptPhrase(
        edited(({ kdf }) => {
          kdf[name] = value;
        }),
        PASSPHRASE,
      ),
    ).toThrow('the passphrase is not the one of this keystore, or the keystore was changed');
});

test.each([
  ['n', 2 ** 40],
  ['n', 2 ** 19],
  ['n', 2 ** 17 + 1],
  ['n', 1_024],
  ['n', -1],
  ['n', '131072'],
  ['r', 2 ** 20],
  ['r', 1],
  ['p', 2 ** 30],
  ['p', 0],
  ['name', 'none'],
])('a keystore that asks for %s=%s is refused before memory is taken', (name, value) => {
  const hostile = edited(({ kdf }) => {
    kdf[name] = value;
  });
  const before = process.memoryUsage().rss;
  expect(() => decryptPhrase(hostile, PASSPHRASE)).toThrow(/^this is no keystore of this release: kdf/);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1_024 * 1_024);
});

test.each([
  ['not JSON', 'words'],
  ['of a later version', edited((parsed) => (parsed['version'] = 2))],
  ['with a field more', edited((parsed) => (parsed['comment'] = 'x'))],
  ['without its ciphertext', edited((parsed) => delete parsed['ciphertext'])],
  ['with a short ciphertext', edited((parsed) => (parsed['ciphertext'] = '00'.repeat(16)))],
])('a keystore %s is refused', (_what, text) => {
  expect(() => decryptPhrase(text, PASSPHRASE)).toThrow('this is no keystore of this release');
});

test('a phrase with a wrong checksum goes into no keystore, and the error does not repeat it', () => {
  const wrong = PHRASE.replace(/yellow$/, 'year');
  expect(() => encryptPhrase(wrong, PASSPHRASE, CHEAP)).toThrow(/^this is not a BIP-39 recovery phrase$/);
});

test('the file is its owner’s alone, is never overwritten, and is named when it does not open', () => {
  const path = join(dir, 'keystore.json');
  writeSecretFile(path, keystore);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(() => writeSecretFile(path, 'other')).toThrow('EEXIST');
  expect(openKeystore(path, PASSPHRASE).reveal()).toBe(PHRASE);
  expect(() => openKeystore(path, 'x')).toThrow(`${path}: the passphrase is not the one`);
  expect(() => openKeystore(join(dir, 'none'), 'x')).toThrow('ENOENT');
  writeSecretFile(join(dir, 'large'), 'x'.repeat(5_000));
  expect(() => openKeystore(join(dir, 'large'), 'x')).toThrow('is too large');
});

test.each([
  ['pass word\n', 'pass word'],
  ['pass word\r\n', 'pass word'],
  ['pass word', 'pass word'],
  [' two\nlines \n\n', ' two\nlines \n'],
])('the passphrase in the file %j is %j', (text, passphrase) => {
  const path = join(dir, `${Buffer.from(text).toString('hex')}`);
  writeSecretFile(path, text);
  expect(readPassphrase(path)).toBe(passphrase);
});
