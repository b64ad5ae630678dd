import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto';

/**
 * A device with one passkey, made of software (WebAuthn level 3). It does what a browser and an authenticator do together, also
 * wrongly where a test says so: each field of `Deviation` replaces what an honest one would write.
 */

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

export type Deviation = {
  origin?: string;
  rpId?: string;
  type?: string;
  challenge?: string;
  crossOrigin?: boolean;
  userPresent?: boolean;
  userVerified?: boolean;
  signCount?: number;
  userHandle?: string | null;
  /** Signs with a key that is not the passkey's. */
  otherKey?: boolean;
  /** The format of the attestation, with its statement; or one that the passkey itself signs. */
  attestation?: { format: string; statement: CborMap } | 'self';
};

type CreationOptions = { challenge: string; rp: { id?: string }; user: { id: string } };
type RequestOptions = { challenge: string; rpId?: string };

type CborKey = number | string;
type CborMap = ReadonlyMap<CborKey, CborValue>;
type CborValue = number | string | Uint8Array | readonly CborValue[] | CborMap;

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.of((major << 5) | length);
  if (length < 256) return Buffer.of((major << 5) | 24, length);
  return Buffer.of((major << 5) | 25, length >> 8, length & 0xff);
}

/** CBOR (RFC 8949), of what attestations and keys consist of. */
function cbor(value: CborValue): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return Buffer.concat([head(3, bytes.length), bytes]);
  }
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map) {
    const members = [...(value as CborMap)].flatMap(([key, member]) => [cbor(key), cbor(member)]);
    return Buffer.concat([head(5, value.size), ...members]);
  }
  const elements = value as readonly CborValue[];
  return Buffer.concat([head(4, elements.length), ...elements.map(cbor)]);
}

const bytesOf = (base64url: string | undefined): Buffer => Buffer.from(base64url ?? '', 'base64url');

/** A new key pair with its public key in COSE (RFC 9053). */
function newKey(algorithm: Algorithm) {
  if (algorithm === 'RS256') {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { n, e } = publicKey.export({ format: 'jwk' });
    const cose = new Map<CborKey, CborValue>([
      [1, 3],
      [3, -257],
      [-1, bytesOf(n)],
      [-2, bytesOf(e)],
    ]);
    return { cose, signed: (data: Buffer) => sign('sha256', data, privateKey) };
  }
  if (algorithm === 'EdDSA') {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const { x } = publicKey.export({ format: 'jwk' });
    const cose = new Map<CborKey, CborValue>([
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytesOf(x)],
    ]);
    return { cose, signed: (data: Buffer) => sign(null, data, privateKey) };
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const cose = new Map<CborKey, CborValue>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, bytesOf(x)],
    [-3, bytesOf(y)],
  ]);
  return { cose, signed: (data: Buffer) => sign('sha256', data, privateKey) };
}

const USER_PRESENT = 1;
const USER_VERIFIED = 4;
const HAS_CREDENTIAL = 64;

export type SoftwareAuthenticator = ReturnType<typeof softwareAuthenticator>;

/** @param counts whether its signature counter rises; passkeys that are copied between devices always say 0 */
export function softwareAuthenticator(
  ownOrigin: string,
  { algorithm = 'ES256', counts = true }: { algorithm?: Algorithm; counts?: boolean } = {},
) {
  const id = randomBytes(16);
  const { cose, signed } = newKey(algorithm);
  const alg = cose.get(3) ?? 0;
  const other = newKey(algorithm);
  let count = 0;
  let handle: string | null = null;

  const clientData = (type: string, challenge: string, given: Deviation): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: given.type ?? type,
        challenge: given.challenge ?? challenge,
        origin: given.origin ?? ownOrigin,
        crossOrigin: given.crossOrigin ?? false,
      }),
    );

  function authenticatorData(rpId: string, given: Deviation, credential?: Buffer): Buffer {
    if (counts) count += 1;
    const { userPresent = true, userVerified = true, signCount = count } = given;
    const flags =
      (userPresent ? USER_PRESENT : 0) |
      (userVerified ? USER_VERIFIED : 0) |
      (credential === undefined ? 0 : HAS_CREDENTIAL);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(signCount);
    const parts = [hash('sha256', given.rpId ?? rpId, 'buffer'), Buffer.of(flags), counter];
    return Buffer.concat(credential === undefined ? parts : [...parts, credential]);
  }

  const credentialOf = <R extends object>(response: R) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key' as const,
    authenticatorAttachment: 'platform',
    clientExtensionResults: {},
    response,
  });

  return {
    credentialId: id.toString('base64url'),
    /** What `navigator.credentials.create()` returns, as JSON. */
    create(options: CreationOptions, given: Deviation = {}) {
      handle = options.user.id;
      const client = clientData('webauthn.create', options.challenge, given);
      const length = Buffer.of(id.length >> 8, id.length & 0xff);
      const credential = Buffer.concat([Buffer.alloc(16), length, id, cbor(cose)]);
      const data = authenticatorData(options.rp.id ?? '', given, credential);
      const { attestation: asked = { format: 'none', statement: new Map() } } = given;
      const ownSignature = () => signed(Buffer.concat([data, hash('sha256', client, 'buffer')]));
      const { format, statement } =
        asked === 'self'
          ? {
              format: 'packed',
              statement: new Map<CborKey, CborValue>([
                ['alg', alg],
                ['sig', ownSignature()],
              ]),
            }
          : asked;
      const attestation = new Map<CborKey, CborValue>([
        ['fmt', format],
        ['attStmt', statement],
        ['authData', data],
      ]);
      return credentialOf({
        clientDataJSON: client.toString('base64url'),
        attestationObject: cbor(attestation).toString('base64url'),
        transports: ['internal', 'hybrid'],
      });
    },
    /** What `navigator.credentials.get()` returns, as JSON. */
    get(options: RequestOptions, given: Deviation = {}) {
      const client = clientData('webauthn.get', options.challenge, given);
      const data = authenticatorData(options.rpId ?? '', given);
      const message = Buffer.concat([data, hash('sha256', client, 'buffer')]);
      const signature = given.otherKey === true ? other.signed(message) : signed(message);
      return credentialOf({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: given.userHandle === undefined ? handle : given.userHandle,
      });
    },
  };
}
