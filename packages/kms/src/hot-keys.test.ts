import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { KeysUnavailable } from '@quittance/chains/hot-key';
import { type Behaviour, startFakeKms } from '@quittance/testkit/fake-kms';
import { crc32c } from './crc32c.ts';
import { openHotKey } from './hot-keys.ts';
import { type KmsKeyName, readKeyName } from './key-name.ts';
import { KmsRefused } from './kms.ts';

/** Against a local fake of both: no test here shows how the real ones answer. */

const fake = await startFakeKms();
Object.assign(process.env, fake.environment);
afterAll(() => fake.stop());
beforeEach(() => {
  fake.behaviour = 'right';
});

const named = (text: string) => readKeyName(text) as KmsKeyName;
const googleEndpoint = fake.environment['GOOGLE_KMS_ENDPOINT'];
const open = <K extends 'evm' | 'bitcoin' | 'solana'>(kind: K, name: string) =>
  openHotKey(kind, named(name), { googleEndpoint });
const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));

describe.each(['aws', 'google'] as const)('%s', (provider) => {
  const names = fake.keys[provider];

  it('signs digests on secp256k1, with s in the lower half whichever half it was in', async () => {
    const key = await open('evm', names.secp256k1);
    const before = fake.highS;
    for (let i = 0; i < 8; i++) {
      const digest = random(32);
      const { r, s, yParity } = await key.sign(digest);
      expect(s).toBeLessThanOrEqual(secp256k1.Point.Fn.ORDER / 2n);
      const signature = new secp256k1.Signature(r, s, yParity);
      expect(secp256k1.verify(signature.toBytes(), digest, key.publicKey, { prehash: false })).toBe(true);
      expect(signature.recoverPublicKey(digest).toBytes()).toEqual(key.publicKey);
    }
    expect(fake.highS - before).toBe(4);
  });

  it('signs messages on Ed25519, always the same for the same', async () => {
    const key = await open('solana', names.ed25519);
    const message = random(700);
    const signature = await key.sign(message);
    expect(ed25519.verify(signature, message, key.publicKey)).toBe(true);
    expect(await key.sign(message)).toEqual(signature);
  });

  const kinds = { evm: 'secp256k1', solana: 'ed25519' } as const;
  const failures: [Behaviour, RegExp][] = [
    ['wrong', /not one of the key/],
    ['garbage', /not one of the key/],
    ['throttles', provider === 'aws' ? /ThrottlingException/ : /429 RESOURCE_EXHAUSTED/],
    ['fails', provider === 'aws' ? /KMSInternalException/ : /500 INTERNAL/],
    ['denies', provider === 'aws' ? /AccessDeniedException/ : /403 PERMISSION_DENIED/],
    ['hangs', /did not answer in 2500 ms/],
    ...(provider === 'google' ? [['wrong checksum', /checksum/] as [Behaviour, RegExp]] : []),
  ];
  describe.each(Object.entries(kinds))('of %s', (kind, curve) => {
    // What hangs takes its time, and is the same for both.
    it.each(failures.filter(([how]) => how !== 'hangs' || kind === 'evm'))(
      'that %s gives no signature, and the next one when it is right again',
      async (how, why) => {
        const key = await open(kind as keyof typeof kinds, names[curve]);
        fake.behaviour = how;
        const failure = await key.sign(random(32)).catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(KeysUnavailable);
        expect((failure as Error).message).toMatch(why);
        fake.behaviour = 'right';
        await expect(key.sign(random(32))).resolves.toBeDefined();
      },
    );

    it('refuses a key of another curve, and says which is needed', async () => {
      const needed = {
        secp256k1: /ECC_SECG_P256K1|EC_SIGN_SECP256K1_SHA256/,
        ed25519: /ECC_NIST_EDWARDS25519|EC_SIGN_ED25519/,
      };
      for (const other of [names.p256, curve === 'ed25519' ? names.secp256k1 : names.ed25519]) {
        const failure = await open(kind as keyof typeof kinds, other).catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(KmsRefused);
        expect((failure as Error).message).toMatch(needed[curve]);
      }
    });
  });

  it('a key that is not there, or may not be used, is a refusal; a KMS that fails is none', async () => {
    const absent = names.secp256k1.replace('secp256k1', 'another');
    await expect(open('evm', absent)).rejects.toThrow(/NotFoundException|404 NOT_FOUND/);
    await expect(open('evm', absent)).rejects.toBeInstanceOf(KmsRefused);
    fake.behaviour = 'denies';
    await expect(open('evm', names.secp256k1)).rejects.toBeInstanceOf(KmsRefused);
    fake.behaviour = 'fails';
    await expect(open('evm', names.secp256k1)).rejects.toBeInstanceOf(KeysUnavailable);
  });
});

it('a public key of Google that does not have its checksum is not taken', async () => {
  fake.behaviour = 'wrong checksum';
  await expect(open('evm', fake.keys.google.secp256k1)).rejects.toThrow('checksum');
});

it('the checksum is that of RFC 3720', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
});
