import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { checkAddress, depositAddresses, openWallet, paymentUri, showAddress } from './wallet.ts';

const phrase = 'test test test test test test test test test test test junk';
/** Known to everybody who has ever started a development node: m/44'/60'/0'/0/0 … 9 of that phrase. */
const known = [
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
  '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
  '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955',
  '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
  '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
];
const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const canonical = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';

describe('an address somebody typed', () => {
  test.each([
    // The examples of EIP-55.
    checksummed,
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x27b1fdb04752bbc536007a920d24acb045561c26',
    canonical,
    '0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED',
    '0x1111111111111111111111111111111111111111',
  ])('%s is one', (text) => {
    expect(checkAddress(text)).toBe(text.toLowerCase());
  });

  test.each([
    ['one letter in the wrong case', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'],
    ['the checksum of another address', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'],
    ['one digit changed under a checksum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAec'],
    ['one letter upper in a lower body', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeD'],
    ['no prefix', canonical.slice(2)],
    ['an upper prefix', `0X${canonical.slice(2)}`],
    ['too short', canonical.slice(0, -1)],
    ['too long', `${canonical}0`],
    ['not hexadecimal', `${canonical.slice(0, -1)}g`],
    ['space before', ` ${canonical}`],
    ['a line break after', `${canonical}\n`],
    ['full-width digits', `0x${'１'.repeat(40)}`],
    ['a Bitcoin address', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['a Solana address', '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'],
    ['an ICAP address', 'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS'],
    ['a name', 'vitalik.eth'],
    ['nothing', ''],
  ])('%s is none', (_why, text) => {
    expect(checkAddress(text)).toBeUndefined();
  });

  test('is shown with its checksum', () => {
    expect(showAddress(canonical)).toBe(checksummed);
  });
});

describe('deposit addresses', () => {
  const wallet = openWallet(phrase);
  const addresses = depositAddresses(wallet.accountXpub);

  test('are those of BIP-44', () => {
    expect(known.map((_, index) => showAddress(addresses.at(index)))).toEqual(known);
  });

  test('are those the wallet can sign for', () => {
    for (const index of [0, 1, 2, 1_000_000, 2 ** 31 - 1]) {
      expect(wallet.depositAddress(index)).toBe(addresses.at(index));
    }
  });

  test.each([-1, 2 ** 31, 0.5])('have no index %s', (index) => {
    expect(() => addresses.at(index)).toThrow();
    expect(() => wallet.depositAddress(index)).toThrow();
  });

  test('come from the public key of one account only, and an error repeats no key', () => {
    const root = HDKey.fromMasterSeed(mnemonicToSeedSync(phrase));
    const wrong: [string, RegExp][] = [
      [root.derive("m/44'/60'/0'").privateExtendedKey, /private key/],
      [root.derive("m/44'/60'/1'").publicExtendedKey, /m\/44'\/60'\/0'/],
      [root.derive("m/44'/60'/0'/0").publicExtendedKey, /m\/44'\/60'\/0'/],
      [root.publicExtendedKey, /m\/44'\/60'\/0'/],
      [wallet.accountXpub.slice(0, -1), /not an extended public key/],
      [`${wallet.accountXpub.slice(0, 50)}1${wallet.accountXpub.slice(51)}`, /not an extended public key/],
      ['', /not an extended public key/],
    ];
    for (const [text, problem] of wrong) {
      expect(() => depositAddresses(text)).toThrow(problem);
      if (text !== '') expect(() => depositAddresses(text)).not.toThrow(text.slice(10));
    }
  });
});

describe('a wallet', () => {
  test('has its hot address in an account of its own', () => {
    const root = HDKey.fromMasterSeed(mnemonicToSeedSync(phrase));
    const hot = root.derive("m/44'/60'/1'").publicExtendedKey;
    expect(openWallet(phrase).hotAddress).toBe('0x8c8d35429f74ec245f8ef2f4fd1e551cff97d650');
    expect(openWallet(phrase).accountXpub).not.toBe(hot);
  });

  test('shows no secret when it is printed', () => {
    const wallet = openWallet(phrase);
    const root = HDKey.fromMasterSeed(mnemonicToSeedSync(phrase));
    const secret = Buffer.from(root.derive("m/44'/60'/1'/0/0").privateKey ?? []).toString('hex');
    expect(secret).toHaveLength(64);
    const printed = JSON.stringify(wallet) + Object.values(wallet.hotSigner).join();
    expect(printed).not.toContain(secret);
    expect(printed).not.toContain('junk');
    expect(printed).not.toContain('xprv');
  });
});

describe('a payment URI', () => {
  const network = { chain: 'ethereum', chainId: 31337, usdcAddress: canonical } as const;
  const to = '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359';

  test('asks for native money in wei', () => {
    expect(paymentUri(network, 'ETH', to, units(1_500_000_000_000_000_001n))).toBe(
      'ethereum:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359@31337?value=1500000000000000001',
    );
  });

  test('asks for a transfer of a token', () => {
    expect(paymentUri(network, 'USDC_ERC20', to, units(25_500_000n))).toBe(
      `ethereum:${checksummed}@31337/transfer?address=0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359&uint256=25500000`,
    );
  });

  test('is the same form on every network like Ethereum, under its own number', () => {
    expect(paymentUri({ chain: 'polygon', chainId: 137 }, 'POL', to, units(5n))).toBe(
      'ethereum:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359@137?value=5',
    );
    expect(
      paymentUri({ chain: 'base', chainId: 8453, usdcAddress: canonical }, 'USDC_BASE', to, units(5n)),
    ).toContain('@8453/transfer?');
  });

  test('is refused for an asset the network does not have', () => {
    expect(() => paymentUri({ chain: 'ethereum', chainId: 1 }, 'USDC_ERC20', to, units(1n))).toThrow(
      'not an asset',
    );
    expect(() => paymentUri(network, 'USDC_BASE', to, units(1n))).toThrow('not an asset');
    expect(() => paymentUri(network, 'BTC', to, units(1n))).toThrow('not an asset');
  });
});
