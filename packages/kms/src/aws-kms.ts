import { invariant } from '@quittance/shared/result';
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

const AWS = 'AWS KMS';
/** `MessageType` and `SigningAlgorithm` of each curve. A digest is not hashed again; Ed25519 takes the message as it is. */
const algorithms = {
  secp256k1: { MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' },
  ed25519: { MessageType: 'RAW', SigningAlgorithm: 'ED25519_SHA_512' },
} as const;

/**
 * A key in AWS KMS, by its official client: credentials, and another endpoint in AWS_ENDPOINT_URL_KMS, are found where all of
 * Amazon's programs look for them.
 *
 * https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html and API_GetPublicKey.html;
 * key specs: https://docs.aws.amazon.com/kms/latest/developerguide/symm-asymm-choose-key-spec.html
 */
export async function awsKmsKey({ arn, region }: Extract<KmsKeyName, { kms: 'aws' }>): Promise<KmsKey> {
  const { GetPublicKeyCommand, KMSClient, SignCommand } = await import('@aws-sdk/client-kms');
  // Who asks for the signature asks again, and knows until when.
  const client = new KMSClient({ region, maxAttempts: 1 });
  return {
    publicKey: (curve) =>
      within(READ_WITHIN_MS, AWS, async (abortSignal) => {
        const answer = await client
          .send(new GetPublicKeyCommand({ KeyId: arn }), { abortSignal })
          .catch(asRefusal);
        const { KeySpec, KeyUsage, PublicKey } = answer;
        const wanted = keyTypes[curve].aws;
        if (KeySpec !== wanted || KeyUsage !== 'SIGN_VERIFY')
          throw new KmsRefused(
            `the key is of ${KeySpec ?? 'no known type'} for ${KeyUsage ?? 'no known use'}: one of ${wanted} for SIGN_VERIFY is needed`,
          );
        invariant(PublicKey !== undefined, 'a public key is told');
        return PublicKey;
      }),
    sign: (curve: Curve, bytes) =>
      within(SIGN_WITHIN_MS, AWS, async (abortSignal) => {
        const command = new SignCommand({ KeyId: arn, Message: bytes, ...algorithms[curve] });
        const { Signature } = await client.send(command, { abortSignal }).catch(asRefusal);
        invariant(Signature !== undefined, 'a signature is told');
        return Signature;
      }),
  };
}

/** Of the same status as a refusal, but they pass by themselves. */
const PASSING = /^(?:Throttling|TooManyRequests|RequestTimeout|RequestExpired|ExpiredToken)/;

function asRefusal(error: unknown): never {
  const { name = '', message = '', $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? 0;
  if (status >= 400 && status < 500 && !PASSING.test(name))
    throw new KmsRefused(`${AWS}: ${name}: ${message}`);
  throw error;
}
