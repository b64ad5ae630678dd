import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { type BitcoinNetwork, bitcoinNetworks } from './network.ts';
import { checkAddress, depositAddresses, openBitcoinWallet, paymentUri } from './wallet.ts';

const phrase =
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
// Of BIP-84.
const zpub =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
const first = 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu';
const second = 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g';
const changeFirst = 'bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el';

const testNetworks = ['testnet', 'signet', 'regtest'] as const;

describe('an address somebody typed', () => {
  test.each<[string, string, readonly BitcoinNetwork[]]>([
    ['P2PKH', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', ['mainnet']],
    ['P2SH', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', ['mainnet']],
    ['P2WPKH', 'bc1qqurswpc8qurswpc8qurswpc8qurswpc89fe3yv', ['mainnet']],
    ['P2WSH', 'bc1qqurswpc8qurswpc8qurswpc8qurswpc8qurswpc8qurswpc8qurs6mww0q', ['mainnet']],
    ['P2TR', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', ['mainnet']],
    ['P2PKH of test networks', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', testNetworks],
    ['P2SH of test networks', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', testNetworks],
    ['P2WPKH of testnet and signet', 'tb1qqurswpc8qurswpc8qurswpc8qurswpc800zzll', ['testnet', 'signet']],
    [
      'P2WSH of testnet and signet',
      'tb1qqurswpc8qurswpc8qurswpc8qurswpc8qurswpc8qurswpc8qursdncp40',
      ['testnet', 'signet'],
    ],
    [
      'P2TR of testnet and signet',
      'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47zagq',
      ['testnet', 'signet'],
    ],
    ['P2WPKH of regtest', 'bcrt1qqurswpc8qurswpc8qurswpc8qurswpc8dxm0gk', ['regtest']],
    ['P2WSH of regtest', 'bcrt1qqurswpc8qurswpc8qurswpc8qurswpc8qurswpc8qurswpc8qursq2j8q4', ['regtest']],
    ['P2TR of regtest', 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6', ['regtest']],
  ])('%s belongs to its networks and to no other', (_kind, text, networks) => {
    const accepting = bitcoinNetworks.filter((network) => checkAddress(network, text) !== undefined);
    expect(accepting).toEqual(networks);
    for (const network of networks) expect(checkAddress(network, text)).toBe(text);
  });

  test('bech32 may be all in upper case, as QR codes have it', () => {
    expect(checkAddress('mainnet', first.toUpperCase())).toBe(first);
    const taproot = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0';
    expect(checkAddress('mainnet', taproot.toUpperCase())).toBe(taproot);
  });

  test.each([
    ['bech32 in mixed case', `${first.slice(0, -1)}U`],
    ['an upper prefix before a lower body', `BC1${first.slice(3)}`],
    ['version 0 with the checksum of bech32m', 'bc1qqurswpc8qurswpc8qurswpc8qurswpc8s4fapw'],
    [
      'version 1 with the checksum of bech32',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
    ],
    ['version 1 of 16 bytes', 'bc1pqurswpc8qurswpc8qurswpc8qufx9gxs'],
    ['version 1 of 40 bytes', 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y'],
    ['version 0 of 16 bytes', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P'],
    ['an empty program', 'bc1gmk9yu'],
    ['another prefix', 'tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty'],
    ['version 2', 'bc1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq2tdauy'],
    ['version 16', 'bc1sqqqqkfw08p'],
    ['version 17', 'bc130xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq7zws8r'],
    ['version 0 of 31 bytes', 'bc1qqurswpc8qurswpc8qurswpc8qurswpc8qurswpc8qurswpc8qu0sv2cn'],
    ['a Taproot key beyond the field', 'bc1plllllllllllllllllllllllllllllllllllllllllllllllllllsr7rg6v'],
    ['an anchor, which anyone can spend', 'bc1pfeessrawgf'],
    ['one letter changed', `${first.slice(0, 20)}x${first.slice(21)}`],
    ['two letters changed places', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv83ft4'],
    ['one letter left out', `${first.slice(0, 20)}${first.slice(21)}`],
    ['a letter that bech32 does not have', `${first.slice(0, 20)}b${first.slice(21)}`],
    ['a legacy address in the wrong case', '1a1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['a legacy address with a 0 for an o', '1A1zP1eP5QGefi2DMPTfTL5SLmv7Div0Na'],
    ['P2PKH with a wrong checksum', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3'],
    ['P2SH with a wrong checksum', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLz'],
    ['a legacy address cut short', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN'],
    ['a private key', '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ'],
    ['an extended key', zpub],
    ['a legacy Litecoin address', 'LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1'],
    ['an Ethereum address', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['a Solana address', '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'],
    ['space before', ` ${first}`],
    ['a line break after', `${first}\n`],
    ['a URI', `bitcoin:${first}`],
    ['nothing', ''],
  ])('%s is none', (_why, text) => {
    for (const network of bitcoinNetworks) expect(checkAddress(network, text)).toBeUndefined();
  });
});

describe('deposit addresses', () => {
  test('are those of BIP-84, from either form of the key', () => {
    for (const key of [zpub, openBitcoinWallet('mainnet', phrase).accountXpub]) {
      const addresses = depositAddresses('mainnet', key);
      expect([addresses.at(0), addresses.at(1)]).toEqual([first, second]);
    }
  });

  test.each(bitcoinNetworks)('of %s are those the wallet can sign for', (network) => {
    const wallet = openBitcoinWallet(network, phrase);
    const addresses = depositAddresses(network, wallet.accountXpub);
    for (const index of [0, 1, 2, 1_000_000, 2 ** 31 - 1]) {
      expect(wallet.address('deposit', index)).toBe(addresses.at(index));
      expect(checkAddress(network, addresses.at(index))).toBe(addresses.at(index));
    }
  });

  test.each([-1, 2 ** 31, 0.5])('have no index %s', (index) => {
    const wallet = openBitcoinWallet('regtest', phrase);
    expect(() => depositAddresses('regtest', wallet.accountXpub).at(index)).toThrow();
    expect(() => wallet.address('deposit', index)).toThrow();
  });

  test('come from the public key of one account and network only, and an error repeats no key', () => {
    const seed = mnemonicToSeedSync(phrase);
    const root = HDKey.fromMasterSeed(seed);
    const tests = HDKey.fromMasterSeed(seed, { public: 0x043587cf, private: 0x04358394 });
    const vpubs = HDKey.fromMasterSeed(seed, { public: 0x045f1cf6, private: 0x045f18bc });
    const ypubs = HDKey.fromMasterSeed(seed, { public: 0x049d7cb2, private: 0x049d7878 });
    const path = "m/84'/0'/0'";
    const wrong: [BitcoinNetwork, string, RegExp][] = [
      ['mainnet', root.derive(path).privateExtendedKey, /private key/],
      ['regtest', tests.derive("m/84'/1'/0'").privateExtendedKey, /private key/],
      ['regtest', vpubs.derive("m/84'/1'/0'").privateExtendedKey, /private key/],
      ['mainnet', root.derive("m/84'/0'/1'").publicExtendedKey, /m\/84'\/0'\/0'/],
      ['mainnet', root.derive("m/84'/0'/0'/0").publicExtendedKey, /m\/84'\/0'\/0'/],
      ['mainnet', root.publicExtendedKey, /m\/84'\/0'\/0'/],
      ['regtest', root.derive(path).publicExtendedKey, /not one of regtest/],
      ['signet', zpub, /not one of signet/],
      ['mainnet', tests.derive("m/84'/1'/0'").publicExtendedKey, /not one of mainnet/],
      ['mainnet', vpubs.derive("m/84'/1'/0'").publicExtendedKey, /not one of mainnet/],
      ['mainnet', ypubs.derive("m/49'/0'/0'").publicExtendedKey, /xpub, zpub, tpub or vpub/],
      ['mainnet', zpub.slice(0, -1), /not an extended public key/],
      ['mainnet', `${zpub.slice(0, 50)}1${zpub.slice(51)}`, /not an extended public key/],
      ['mainnet', '', /not an extended public key/],
    ];
    for (const [network, text, problem] of wrong) {
      expect(() => depositAddresses(network, text)).toThrow(problem);
      if (text !== '') expect(() => depositAddresses(network, text)).not.toThrow(text.slice(10));
    }
    const vpub = vpubs.derive("m/84'/1'/0'").publicExtendedKey;
    expect(depositAddresses('signet', vpub).at(0)).toBe(
      openBitcoinWallet('signet', phrase).address('deposit', 0),
    );
  });
});

describe('a wallet', () => {
  test('keeps what it pays from in an account that the xpub of the deposits does not reach', () => {
    const wallet = openBitcoinWallet('mainnet', phrase);
    const root = HDKey.fromMasterSeed(mnemonicToSeedSync(phrase));
    expect(wallet.hotAddress).toBe('bc1qku0qh0mc00y8tk0n65x2tqw4trlspak0fnjmfz');
    const ofTheDeposits = root.derive("m/84'/0'/0'/1/0");
    expect(wallet.address('change', 0)).not.toBe(changeFirst);
    expect(Buffer.from(wallet.privateKey('change', 0))).not.toEqual(
      Buffer.from(ofTheDeposits.privateKey ?? []),
    );
    expect(wallet.address('change', 1)).not.toBe(wallet.address('change', 0));
    expect(() => wallet.address('hot', 1)).toThrow('one hot address');
  });

  test('shows no secret when it is printed', () => {
    const printed = JSON.stringify(openBitcoinWallet('mainnet', phrase));
    expect(printed).toContain('xpub');
    expect(printed).not.toContain('xprv');
    expect(printed).not.toContain('abandon');
  });
});

test('a payment URI asks for bitcoins, to the last satoshi', () => {
  expect(paymentUri(first, units(150_000_001n))).toBe(`bitcoin:${first}?amount=1.50000001`);
  expect(paymentUri(first, units(100_000_000n))).toBe(`bitcoin:${first}?amount=1`);
  expect(paymentUri(first, units(1n))).toBe(`bitcoin:${first}?amount=0.00000001`);
});
