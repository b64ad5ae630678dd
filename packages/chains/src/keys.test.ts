import { expect, test } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import { HARDENED_OFFSET, HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { publicChildren } from './keys.ts';

const hex = (bytes: Uint8Array | null) => Buffer.from(bytes ?? []).toString('hex');

test('the public keys of children are those that the library derives, from the public and from the private key', async () => {
  const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const index = fc.integer({ min: 0, max: HARDENED_OFFSET - 1 });
  await assertProperty(
    fc.property(seed, fc.array(index, { minLength: 1, maxLength: 4 }), (bytes, indexes) => {
      const parent = HDKey.fromMasterSeed(bytes).derive("m/84'/0'/0'/0");
      const open = HDKey.fromExtendedKey(parent.publicExtendedKey);
      const childAt = publicChildren(open);
      for (const one of indexes) {
        const child = hex(childAt(one).toBytes());
        expect(child).toBe(hex(open.deriveChild(one).publicKey));
        expect(child).toBe(hex(parent.deriveChild(one).publicKey));
      }
    }),
  );
});

// The chain m/0 of its second vector.
test('a child of the test vectors of BIP-32 is derived', () => {
  const master =
    'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB';
  const child =
    'xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH';
  const childAt = publicChildren(HDKey.fromExtendedKey(master));
  expect(hex(childAt(0).toBytes())).toBe(hex(HDKey.fromExtendedKey(child).publicKey));
});
