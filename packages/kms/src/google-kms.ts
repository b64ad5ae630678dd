import { createPublicKey } from 'node:crypto';
import { KeysUnavailable } from '@quittance/chains/hot-key';
import type { GoogleAuth } from 'google-auth-library';
import { z } from 'zod';
import { crc32c } from './crc32c.ts';
import type { KmsKeyName } from './key-name.ts';
import {
  type Curve,
  type KmsKey,
  KmsRefused,
  keyTypes,
  READ_WITHIN_MS,
  SIGN_WITHIN_MS,
  within,
} from './kms.ts';

const GOOGLE = 'Google Cloud KMS';
const ENDPOINT = 'https://cloudkms.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/cloudkms';

// int64 is text in Google's JSON, and what is false is left out.
const checksum = z.string().regex(/^\d{1,10}$/);
const publicKeyForm = z.object({
  pem: z.string(),
  pemCrc32c: checksum,
  name: z.string(),
  algorithm: z.string(),
});
const signatureForm = z.object({
  signature: z.base64(),
  signatureCrc32c: checksum,
  name: z.string(),
  verifiedDigestCrc32c: z.boolean().default(false),
  verifiedDataCrc32c: z.boolean().default(false),
});
const errorForm = z.object({ error: z.object({ status: z.string().default(''), message: z.string() }) });

let known: GoogleAuth | undefined;

/** One for all keys: it takes seconds to find credentials, and keeps the token that it gets for them. */
async function googleAuth(): Promise<GoogleAuth> {
  const library = await import('google-auth-library');
  known ??= new library.GoogleAuth({ scopes: [SCOPE] });
  return known;
}

/**
 * A version of a key in Google Cloud KMS, by REST. Credentials are Google's usual ones (Application Default Credentials). Each answer
 * has to be of this version, and right by its checksums.
 *
 * https://cloud.google.com/kms/docs/reference/rest/v1/projects.locations.keyRings.cryptoKeys.cryptoKeyVersions/asymmetricSign
 * and getPublicKey beside it; checksums: https://cloud.google.com/kms/docs/data-integrity-guidelines
 */
export async function googleKmsKey(
  { version }: Extract<KmsKeyName, { kms: 'google' }>,
  endpoint = ENDPOINT,
): Promise<KmsKey> {
  const auth = await googleAuth();
  const url = `${endpoint.replace(/\/+$/, '')}/v1/${version}`;

  async function ask<T>(form: z.ZodType<T>, path: string, signal: AbortSignal, body?: unknown): Promise<T> {
    const headers = new Headers(await auth.getRequestHeaders());
    headers.set('content-type', 'application/json');
    const answer = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
      redirect: 'error',
    });
    // What is no JSON, such as the page of a proxy, is refused below: by its status, or as an answer of another form.
    const read: unknown = await answer.json().catch(() => undefined);
    if (!answer.ok) throw failureOf(answer.status, read);
    const parsed = form.safeParse(read);
    if (!parsed.success) throw new KeysUnavailable(`${GOOGLE} gave an answer of another form`);
    return parsed.data;
  }

  function assertRight(name: string, bytes: Uint8Array, told: string): void {
    if (name !== version) throw new KeysUnavailable(`${GOOGLE} answered for another key: ${name}`);
    if (BigInt(told) !== BigInt(crc32c(bytes)))
      throw new KeysUnavailable(`${GOOGLE}: an answer does not have its checksum`);
  }

  return {
    publicKey: (curve) =>
      within(READ_WITHIN_MS, GOOGLE, async (signal) => {
        const { pem, pemCrc32c, name, algorithm } = await ask(publicKeyForm, '/publicKey', signal);
        assertRight(name, Buffer.from(pem), pemCrc32c);
        const wanted = keyTypes[curve].google;
        if (algorithm !== wanted)
          throw new KmsRefused(`the key is of ${algorithm}: one of ${wanted} is needed`);
        return createPublicKey(pem).export({ type: 'spki', format: 'der' });
      }),
    sign: (curve: Curve, bytes) =>
      within(SIGN_WITHIN_MS, GOOGLE, async (signal) => {
        const text = Buffer.from(bytes).toString('base64');
        const sum = String(crc32c(bytes));
        const body =
          curve === 'secp256k1'
            ? { digest: { sha256: text }, digestCrc32c: sum }
            : { data: text, dataCrc32c: sum };
        const answer = await ask(signatureForm, ':asymmetricSign', signal, body);
        const signature = Buffer.from(answer.signature, 'base64');
        assertRight(answer.name, signature, answer.signatureCrc32c);
        const isVerified = curve === 'secp256k1' ? answer.verifiedDigestCrc32c : answer.verifiedDataCrc32c;
        if (!isVerified) throw new KeysUnavailable(`${GOOGLE} did not check what it was asked to sign`);
        return signature;
      }),
  };
}

const TOO_MANY = 429;
const TIMEOUT = 408;

function failureOf(status: number, read: unknown): Error {
  const { error } = errorForm.catch({ error: { status: '', message: 'no reason' } }).parse(read);
  const text = `${GOOGLE}: ${[status, error.status].join(' ').trim()}: ${error.message}`;
  const isRefusal = status >= 400 && status < 500 && status !== TOO_MANY && status !== TIMEOUT;
  return isRefusal ? new KmsRefused(text) : new KeysUnavailable(text);
}
