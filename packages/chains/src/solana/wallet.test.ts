import { describe, expect, test } from '@jest/globals';
import { derive, masterKey, openWallet, publicKeyOf } from './wallet.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Test vector 1 for ed25519 of SLIP-10. */
const VECTOR_1 = '000102030405060708090a0b0c0d0e0f';
const CHAIN_1 = [
  {
    path: [],
    chainCode: '90046a93de5380a72b5e45010748567d5ea02bbf6522f979e05c0d8d8ca9fffb',
    key: '2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7',
    publicKey: 'a4b2856bfec510abab89753fac1ac0e1112364e7d250545963f135f2a33188ed',
  },
  {
    path: [0],
    chainCode: '8b59aa11380b624e81507a27fedda59fea6d0b779a778918a2fd3590e16e9c69',
    key: '68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3',
    publicKey: '8c8a13df77a28f3445213a0f432fde644acaa215fc72dcdf300d5efaa85d350c',
  },
  {
    path: [0, 1],
    chainCode: 'a320425f77d1b5c2505a6b1b27382b37368ee640e3557c315416801243552f14',
    key: 'b1d0bad404bf35da785a64ca1ac54b2617211d2777696fbffaf208f746ae84f2',
    publicKey: '1932a5270f335bed617d5b935c80aedb1a35bd9fc1e31acafd5372c30f5c1187',
  },
  {
    path: [0, 1, 2, 2, 1_000_000_000],
    chainCode: '68789923a0cac2cd5a29172a475fe9e0fb14cd6adb5ad98a3fa70333e7afa230',
    key: '8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793',
    publicKey: '3c24da049451555d51a7014a37337aa4e12d41e485abccfa46b47dfb2af54b7a',
  },
];

describe('derivation', () => {
  test.each(CHAIN_1)('follows SLIP-10 at $path', ({ path, chainCode, key, publicKey }) => {
    const found = derive(masterKey(Buffer.from(VECTOR_1, 'hex')), path);
    expect(hex(found.chainCode)).toBe(chainCode);
    expect(hex(found.key)).toBe(key);
    expect(hex(publicKeyOf(found.key))).toBe(publicKey);
  });

  test.each([-1, 0.5, 2 ** 31])('there is no child %p', (index) => {
    expect(() => derive(masterKey(Buffer.alloc(16)), [index])).toThrow('hardened');
  });
});

describe('a wallet', () => {
  const phrase = `${'abandon '.repeat(11)}about`;
  const wallet = openWallet(phrase);

  test('has the addresses that other wallets show for the same words', () => {
    // Phantom, Solflare and Ledger: m/44'/501'/0'/0'.
    expect(wallet.depositAddress(0)).toBe('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk');
    expect(openWallet(`  ${phrase.replaceAll(' ', '\n')} `).hotAddress).toBe(wallet.hotAddress);
  });

  test('never gives out its hot address, nor one address twice', () => {
    const addresses = Array.from({ length: 50 }, (_, i) => wallet.depositAddress(i));
    expect(new Set([...addresses, wallet.hotAddress]).size).toBe(51);
  });

  test('does not repeat wrong words, and prints no key', () => {
    expect(() => openWallet(`${phrase} secret`)).toThrow(/^these are not the words of a BIP-39 wallet$/);
    expect(JSON.stringify([wallet, wallet.hotSigner])).not.toMatch(/key|chainCode|data/);
  });
});
