import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { pooledBytes, type Random } from './ids.ts';

const PRIVATE_PREFIX = 'gwsk_';
const PUBLIC_PREFIX = 'gwpk_';
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
/** What precedes the key in the DER forms of Ed25519 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** The key by which the gateway signs, and its id. */
export type GatewaySigningKey = { id: string; key: KeyObject };

/** The keys by which services check what the gateway has signed, by their ids. */
export type GatewayPublicKeys = ReadonlyMap<string, KeyObject>;

/** The settings GATEWAY_PRIVATE_KEY and GATEWAY_PUBLIC_KEY of a new key pair: a prefix and 32 bytes in base64url. */
export function newGatewayKeys(random: Random = pooledBytes): { privateKey: string; publicKey: string } {
  const seed = Buffer.from(random(KEY_BYTES)).toString('base64url');
  const privateKey = PRIVATE_PREFIX + seed;
  return { privateKey, publicKey: publicKeyOf(privateKey) ?? '' };
}

/** GATEWAY_PUBLIC_KEY of a GATEWAY_PRIVATE_KEY; undefined when that has not its form. */
export function publicKeyOf(privateKey: string): string | undefined {
  const key = privateKeyFrom(privateKey);
  return key && PUBLIC_PREFIX + rawPublicKey(key).toString('base64url');
}

/** The key in GATEWAY_PRIVATE_KEY; undefined when it has not the form `gwsk_…`. */
export function readSigningKey(setting: string): GatewaySigningKey | undefined {
  const key = privateKeyFrom(setting);
  return key && { id: keyIdOf(rawPublicKey(key)), key };
}

/** The keys in GATEWAY_PUBLIC_KEY, separated by commas; undefined when one has not the form `gwpk_…`. */
export function readPublicKeys(setting: string): GatewayPublicKeys | undefined {
  const keys = new Map<string, KeyObject>();
  for (const text of setting.split(',')) {
    const raw = bytesOf(text.trim(), PUBLIC_PREFIX);
    if (raw === undefined) return undefined;
    const key = createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' });
    keys.set(keyIdOf(raw), key);
  }
  return keys;
}

function privateKeyFrom(text: string): KeyObject | undefined {
  const seed = bytesOf(text, PRIVATE_PREFIX);
  return seed && createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
}

const rawPublicKey = (privateKey: KeyObject): Buffer =>
  createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);

const keyIdOf = (rawPublicKey: Buffer): string =>
  createHash('sha256').update(rawPublicKey).digest().subarray(0, KEY_ID_BYTES).toString('base64url');

/** The 32 bytes after the prefix. A key that was cut off or changed by a space is none. */
function bytesOf(text: string, prefix: string): Buffer | undefined {
  const bytes = Buffer.from(text.slice(prefix.length), 'base64url');
  const isWhole = bytes.length === KEY_BYTES && text === prefix + bytes.toString('base64url');
  return isWhole ? bytes : undefined;
}
