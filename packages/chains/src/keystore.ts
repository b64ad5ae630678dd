import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { reason } from '@quittance/shared/logger';
import { Secret } from '@quittance/shared/secret';
import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { z } from 'zod';
import { isRecoveryPhrase, normalizedPhrase } from './keys.ts';

/*
 * The file that holds the recovery phrase, encrypted by a passphrase: scrypt (RFC 7914) and AES-256-GCM, with everything that
 * stands before the ciphertext as associated data. It holds the entropy of the phrase, so its size tells only how many words.
 */

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const BYTES_PER_BLOCK = 128;
/** A file is read before anything in it is known to be ours. */
const MEMORY_MAX = 256 * 1_024 * 1_024;
const COST_MIN = 2 ** 14;
const FILE_BYTES_MAX = 4_096;

const SCRYPT_COST = { n: 2 ** 17, r: 8, p: 1 } as const;

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`));

const headerSchema = z.strictObject({
  format: z.literal('quittance-keystore'),
  version: z.literal(1),
  kdf: z
    .strictObject({
      name: z.literal('scrypt'),
      n: z.int().min(COST_MIN),
      r: z.int().min(SCRYPT_COST.r).max(32),
      p: z.int().min(1).max(4),
      salt: hex(SALT_BYTES),
    })
    .refine(({ n }) => Number.isInteger(Math.log2(n)), 'n is a power of two')
    .refine(({ n, r }) => memoryOf(n, r) <= MEMORY_MAX, 'more memory is asked for than is allowed'),
  cipher: z.strictObject({ name: z.literal(CIPHER), nonce: hex(NONCE_BYTES) }),
});
const keystoreSchema = z.strictObject({
  ...headerSchema.shape,
  /** The entropy of 12 to 24 words, then the tag. */
  ciphertext: z.string().regex(/^(?:[0-9a-f]{8}){8,12}$/),
});

type Header = z.infer<typeof headerSchema>;
type Keystore = z.infer<typeof keystoreSchema>;

const memoryOf = (n: number, r: number): number => BYTES_PER_BLOCK * n * r;

/** The text of a new keystore file. Another one each time. */
export function encryptPhrase(phrase: string, passphrase: string, cost: { n: number } = SCRYPT_COST): string {
  if (!isRecoveryPhrase(phrase)) throw new Error('this is not a BIP-39 recovery phrase');
  const header: Header = {
    format: 'quittance-keystore',
    version: 1,
    kdf: { name: 'scrypt', ...SCRYPT_COST, ...cost, salt: randomBytes(SALT_BYTES).toString('hex') },
    cipher: { name: CIPHER, nonce: randomBytes(NONCE_BYTES).toString('hex') },
  };
  const cipher = createCipheriv(CIPHER, keyOf(header, passphrase), Buffer.from(header.cipher.nonce, 'hex'));
  cipher.setAAD(associatedData(header));
  const parts = [cipher.update(mnemonicToEntropy(normalizedPhrase(phrase), wordlist)), cipher.final()];
  const ciphertext = Buffer.concat([...parts, cipher.getAuthTag()]).toString('hex');
  return textOf({ ...header, ciphertext });
}

/** The phrase in a keystore file. Throws, and says which, when the text is no keystore or the passphrase is another one. */
export function decryptPhrase(text: string, passphrase: string): Secret {
  const { ciphertext, ...header } = parseKeystore(text);
  const bytes = Buffer.from(ciphertext, 'hex');
  const nonce = Buffer.from(header.cipher.nonce, 'hex');
  const decipher = createDecipheriv(CIPHER, keyOf(header, passphrase), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(associatedData(header));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const entropy = Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]);
    return new Secret(entropyToMnemonic(entropy, wordlist));
  } catch {
    throw new Error('the passphrase is not the one of this keystore, or the keystore was changed');
  }
}

function parseKeystore(text: string): Keystore {
  try {
    const parsed = keystoreSchema.parse(JSON.parse(text));
    if (textOf(parsed) === text) return parsed;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const why = issue === undefined ? 'not JSON' : `${issue.path.join('.')}: ${issue.message}`;
    throw new Error(`this is no keystore of this release: ${why}`, { cause: error });
  }
  throw new Error('the keystore was changed since it was written');
}

/** The one way to write it: a file with another space in it is another file. */
const textOf = ({ ciphertext, ...header }: Keystore): string =>
  `${JSON.stringify({ ...ordered(header), ciphertext }, null, 2)}\n`;

const associatedData = (header: Header): Buffer => Buffer.from(JSON.stringify(ordered(header)));

const ordered = ({ format, version, kdf: { name, n, r, p, salt }, cipher }: Header): Header => ({
  format,
  version,
  kdf: { name, n, r, p, salt },
  cipher: { name: cipher.name, nonce: cipher.nonce },
});

function keyOf({ kdf: { n, r, p, salt } }: Header, passphrase: string): Buffer {
  if (passphrase === '') throw new Error('the passphrase is empty');
  return scryptSync(passphrase.normalize('NFKC'), Buffer.from(salt, 'hex'), KEY_BYTES, {
    N: n,
    r,
    p,
    maxmem: 2 * memoryOf(n, r),
  });
}

/** Writes a file for its owner alone, to the disk itself. Throws where there is one already. */
export function writeSecretFile(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } catch (error) {
    rmSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

/** A passphrase in a file is its text without the end of its last line. */
export const readPassphrase = (path: string): string => readSmall(path).replace(/\r?\n$/, '');

/** The recovery phrase of a keystore file, by a passphrase. The error names the file. */
export function openKeystore(path: string, passphrase: string): Secret {
  const text = readSmall(path);
  try {
    return decryptPhrase(text, passphrase);
  } catch (error) {
    throw new Error(`${path}: ${reason(error)}`, { cause: error });
  }
}

function readSmall(path: string): string {
  const text = readFileSync(path, 'utf8');
  if (text.length > FILE_BYTES_MAX) throw new Error(`${path}: is too large for what it should be`);
  return text;
}
