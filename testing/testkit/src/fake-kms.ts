import { createPublicKey, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { localPort } from './local-port.ts';

/**
 * Both KMS as one local server with real keys, by their references: AWS' JSON protocol (GetPublicKey, Sign), Google's REST
 * (publicKey, asymmetricSign), and Google's metadata server, which gives the token. It is no proof of how the real ones answer.
 */
export type FakeKms = {
  /** What a process needs to find both. */
  environment: Record<string, string>;
  /** Names of keys, as `<CHAIN>_HOT_KEY` has them. */
  keys: Record<Provider, Record<KeyType, string>>;
  /** What it does from now on. */
  behaviour: Behaviour;
  /** How many signatures it has given or was asked for. */
  signed: number;
  /** How many of its signatures on secp256k1 had s in the upper half of the order: every other one. */
  highS: number;
  stop(): Promise<void>;
};

export type Provider = 'aws' | 'google';
type KeyType = 'secp256k1' | 'ed25519' | 'p256';
export type Behaviour =
  | 'right'
  | 'hangs'
  | 'denies'
  | 'throttles'
  | 'fails'
  | 'wrong'
  | 'garbage'
  | 'wrong checksum';

type Key = {
  aws: string;
  google: string;
  spki: KeyObject;
  /** `bytes`: a digest on secp256k1, a message else. */
  sign(bytes: Uint8Array): Uint8Array;
};

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const publicKeyOf = (jwk: Record<string, string>) => createPublicKey({ key: jwk, format: 'jwk' });
const onCurve = (crv: string, uncompressed: Uint8Array) =>
  publicKeyOf({
    kty: 'EC',
    crv,
    x: base64url(uncompressed.subarray(1, 33)),
    y: base64url(uncompressed.subarray(33)),
  });

const ARN = 'arn:aws:kms:eu-central-1:111122223333:key/';
const RING = 'projects/my-shop/locations/europe-west3/keyRings/quittance/cryptoKeys/';

export async function startFakeKms(): Promise<FakeKms> {
  const fake = { behaviour: 'right' as Behaviour, signed: 0, highS: 0 };
  const [secret, edSecret, otherSecret] = [
    secp256k1.utils.randomSecretKey(),
    ed25519.utils.randomSecretKey(),
    p256.utils.randomSecretKey(),
  ];

  function ecdsa(digest: Uint8Array): Uint8Array {
    const made = secp256k1.sign(digest, secret, { prehash: false, extraEntropy: true });
    const { r, s } = secp256k1.Signature.fromBytes(made);
    const isHigh = fake.signed % 2 === 1;
    if (isHigh) fake.highS += 1;
    return new secp256k1.Signature(r, isHigh ? secp256k1.Point.Fn.ORDER - s : s).toBytes('der');
  }

  const keys: Record<KeyType, Key> = {
    secp256k1: {
      aws: 'ECC_SECG_P256K1',
      google: 'EC_SIGN_SECP256K1_SHA256',
      spki: onCurve('secp256k1', secp256k1.getPublicKey(secret, false)),
      sign: ecdsa,
    },
    ed25519: {
      aws: 'ECC_NIST_EDWARDS25519',
      google: 'EC_SIGN_ED25519',
      spki: publicKeyOf({ kty: 'OKP', crv: 'Ed25519', x: base64url(ed25519.getPublicKey(edSecret)) }),
      sign: (message) => ed25519.sign(message, edSecret),
    },
    p256: {
      aws: 'ECC_NIST_P256',
      google: 'EC_SIGN_P256_SHA256',
      spki: onCurve('P-256', p256.getPublicKey(otherSecret, false)),
      sign: (digest) => p256.sign(digest, otherSecret, { prehash: false, format: 'der' }),
    },
  };
  const types = Object.keys(keys) as KeyType[];
  const typeNamed = (name: string) => types.find((type) => name.endsWith(`/${type}`));

  function signature(key: Key, bytes: Uint8Array): Uint8Array {
    fake.signed += 1;
    if (fake.behaviour === 'garbage') return Uint8Array.of(1, 2, 3);
    // Of something else than was asked for.
    return key.sign(fake.behaviour === 'wrong' ? bytes.map((byte) => byte ^ 1) : bytes);
  }

  /** https://docs.aws.amazon.com/kms/latest/APIReference: the operation is in a header, bytes are base64. */
  function aws(request: IncomingMessage, body: Record<string, string>): Answer {
    const failed = (status: number, type: string): Answer => ({
      status,
      type: 'application/x-amz-json-1.1',
      body: { __type: type, message: `${type} of the fake` },
    });
    if (!/^AWS4-HMAC-SHA256 /.test(request.headers.authorization ?? ''))
      return failed(400, 'MissingAuthenticationToken');
    if (fake.behaviour === 'denies') return failed(400, 'AccessDeniedException');
    if (fake.behaviour === 'throttles') return failed(400, 'ThrottlingException');
    if (fake.behaviour === 'fails') return failed(500, 'KMSInternalException');
    const arn = body['KeyId'] ?? '';
    const type = types.find((one) => arn === ARN + one);
    if (type === undefined) return failed(400, 'NotFoundException');
    const key = keys[type];
    const given = (fields: object): Answer => ({
      status: 200,
      type: 'application/x-amz-json-1.1',
      body: { KeyId: arn, ...fields },
    });
    if (request.headers['x-amz-target'] === 'TrentService.GetPublicKey') {
      const PublicKey = key.spki.export({ type: 'spki', format: 'der' }).toString('base64');
      return given({ PublicKey, KeySpec: key.aws, KeyUsage: 'SIGN_VERIFY' });
    }
    const message = Buffer.from(body['Message'] ?? '', 'base64');
    const [algorithm, messageType] =
      type === 'ed25519' ? ['ED25519_SHA_512', 'RAW'] : ['ECDSA_SHA_256', 'DIGEST'];
    if (body['SigningAlgorithm'] !== algorithm || body['MessageType'] !== messageType)
      return failed(400, 'InvalidKeyUsageException');
    if (type !== 'ed25519' && message.length !== 32) return failed(400, 'ValidationException');
    const made = Buffer.from(signature(key, message)).toString('base64');
    return given({ Signature: made, SigningAlgorithm: algorithm });
  }

  /** https://cloud.google.com/kms/docs/reference/rest: int64 is text, bytes are base64, errors have a status. */
  function google(request: IncomingMessage, body: { [name: string]: unknown }): Answer {
    const failed = (status: number, code: string): Answer => ({
      status,
      body: { error: { code: status, status: code, message: `${code} of the fake` } },
    });
    if (request.headers.authorization !== 'Bearer a-token') return failed(401, 'UNAUTHENTICATED');
    if (fake.behaviour === 'denies') return failed(403, 'PERMISSION_DENIED');
    if (fake.behaviour === 'throttles') return failed(429, 'RESOURCE_EXHAUSTED');
    if (fake.behaviour === 'fails') return failed(500, 'INTERNAL');
    const [, name = '', verb] =
      /^\/v1\/(.*\/cryptoKeyVersions\/1)(\/publicKey|:asymmetricSign)$/.exec(request.url ?? '') ?? [];
    const type = typeNamed(name.replace('/cryptoKeyVersions/1', ''));
    if (type === undefined) return failed(404, 'NOT_FOUND');
    const key = keys[type];
    const sumOf = (bytes: Uint8Array) =>
      String(fake.behaviour === 'wrong checksum' ? (castagnoli(bytes) ^ 1) >>> 0 : castagnoli(bytes));
    if (verb === '/publicKey') {
      const pem = key.spki.export({ type: 'spki', format: 'pem' }).toString();
      return {
        status: 200,
        body: {
          pem,
          algorithm: key.google,
          pemCrc32c: sumOf(Buffer.from(pem)),
          name,
          protectionLevel: 'HSM',
        },
      };
    }
    const digest = (body['digest'] as { sha256?: string } | undefined)?.sha256;
    const text = type === 'ed25519' ? body['data'] : digest;
    if (typeof text !== 'string') return failed(400, 'INVALID_ARGUMENT');
    const bytes = Buffer.from(text, 'base64');
    const sent = body[type === 'ed25519' ? 'dataCrc32c' : 'digestCrc32c'];
    if (sent !== String(castagnoli(bytes))) return failed(400, 'INVALID_ARGUMENT');
    const made = signature(key, bytes);
    return {
      status: 200,
      body: {
        signature: Buffer.from(made).toString('base64'),
        signatureCrc32c: sumOf(made),
        name,
        protectionLevel: 'HSM',
        [type === 'ed25519' ? 'verifiedDataCrc32c' : 'verifiedDigestCrc32c']: true,
      },
    };
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '' } = request;
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, string>;
      if (fake.behaviour === 'hangs' && !url.startsWith('/computeMetadata/')) return;
      const answer = url.startsWith('/computeMetadata/')
        ? metadata(url)
        : url === '/'
          ? aws(request, body)
          : google(request, body);
      const headers = { 'content-type': answer.type ?? 'application/json', 'metadata-flavor': 'Google' };
      response.writeHead(answer.status, headers).end(JSON.stringify(answer.body));
    });
  });
  const host = `127.0.0.1:${await localPort(server)}`;
  const named = (name: (type: KeyType) => string) =>
    Object.fromEntries(types.map((type) => [type, name(type)])) as Record<KeyType, string>;
  return Object.assign(fake, {
    environment: {
      AWS_ENDPOINT_URL_KMS: `http://${host}`,
      AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'of-nobody',
      GOOGLE_KMS_ENDPOINT: `http://${host}`,
      GCE_METADATA_HOST: host,
      METADATA_SERVER_DETECTION: 'assume-present',
      // Google's library would ask the program gcloud for it, where there is one, and that starts a Python.
      GOOGLE_CLOUD_PROJECT: 'my-shop',
    },
    keys: {
      aws: named((type) => `aws-kms:${ARN}${type}`),
      google: named((type) => `google-kms:${RING}${type}/cryptoKeyVersions/1`),
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

type Answer = { status: number; type?: string; body: unknown };

const metadata = (url: string): Answer => ({
  status: 200,
  body: url.includes('/token')
    ? { access_token: 'a-token', expires_in: 3_600, token_type: 'Bearer' }
    : 'default',
});

/** CRC-32C, bit by bit: by other code than what it is compared with. */
function castagnoli(bytes: Uint8Array): number {
  let rest = 0xffffffffn;
  for (const byte of bytes) {
    rest ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) rest = rest & 1n ? (rest >> 1n) ^ 0x82f63b78n : rest >> 1n;
  }
  return Number(rest ^ 0xffffffffn); // eslint-disable-line no-restricted-syntax -- 32 bits
}
