import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { EndpointId } from '@quittance/shared/ids';

const SECRET_PREFIX = 'whsk_';
const PUBLIC_PREFIX = 'whpk_';
const SEED_BYTES = 32;
/** A seed, or a seed with its public key, as other libraries write a secret key. */
const SECRET_KEY_BYTES = [SEED_BYTES, 2 * SEED_BYTES];
/** What precedes the seed in a PKCS #8 private key of Ed25519 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const ENDPOINTS_KEPT_MAX = 1_000;

type KeyPair = {
  privateKey: KeyObject;
  /** In the form of Standard Webhooks 1.0.0: `whpk_` and the key in base 64. */
  publicKey: string;
};

/** The key pairs of an endpoint: one for each configured key, in their order. */
export type EndpointKeyPairs = { of(endpoint: EndpointId): readonly KeyPair[] };

/** The seeds in the setting WEBHOOKS_SIGNING_KEY; undefined when one has not the form `whsk_…`. */
export function readSigningKeys(setting: string): Buffer[] | undefined {
  const seeds = setting.split(',').map((text) => {
    const base64 = text.trim().replace(SECRET_PREFIX, '');
    const bytes = Buffer.from(base64, 'base64');
    const isKey = text.trim() === SECRET_PREFIX + bytes.toString('base64');
    return isKey && SECRET_KEY_BYTES.includes(bytes.length) ? bytes.subarray(0, SEED_BYTES) : undefined;
  });
  return seeds.every((seed) => seed !== undefined) ? seeds : undefined;
}

/**
 * Derives the Ed25519 keys of each endpoint from the configured ones. With one key for all, a merchant could have an event
 * of his own signed and send it to the server of another merchant, where it would verify.
 */
export function createEndpointKeyPairs(seeds: readonly Buffer[]): EndpointKeyPairs {
  const kept = new Map<EndpointId, readonly KeyPair[]>();
  return {
    of(endpoint) {
      const known = kept.get(endpoint);
      if (known !== undefined) return known;
      const pairs = seeds.map((seed) => keyPairOf(seed, endpoint));
      if (kept.size >= ENDPOINTS_KEPT_MAX) kept.clear();
      kept.set(endpoint, pairs);
      return pairs;
    },
  };
}

function keyPairOf(configured: Buffer, endpoint: EndpointId): KeyPair {
  const seed = hkdfSync('sha256', configured, '', `quittance webhook signature 1 ${endpoint}`, SEED_BYTES);
  const key = Buffer.concat([PKCS8, Buffer.from(seed)]);
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { privateKey, publicKey: PUBLIC_PREFIX + spki.subarray(-SEED_BYTES).toString('base64') };
}
