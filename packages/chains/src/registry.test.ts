import { describe, expect, test } from '@jest/globals';
import { type Chain, chainKinds, chains } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import { Secret } from '@quittance/shared/secret';
import { openBitcoinWallet } from './bitcoin/wallet.ts';
import { openWallet } from './evm/wallet.ts';
import {
  checkAddress,
  connectReader,
  connectSender,
  type Drivers,
  depositAddresses,
  drivers,
  paymentUri,
  showAddress,
} from './registry.ts';
import type { BitcoinSettings, ChainSettings, EvmSettings, SolanaSettings } from './settings.ts';

const phrase = 'test test test test test test test test test test test junk';
const rpcUrls = [new Secret('http://127.0.0.1:1')];
const usdc = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
const mint = 'EPjFWdd5AufqSSqeM2qNRswuDk3gyJyrCbuoXjUkyUAz';

const bitcoin = (network: BitcoinSettings['network']): BitcoinSettings => ({
  kind: 'bitcoin',
  chain: 'bitcoin',
  rpcUrls,
  network,
});
const evm = (chain: EvmSettings['chain'], chainId: number): EvmSettings => ({
  kind: 'evm',
  chain,
  rpcUrls,
  chainId,
  usdcAddress: usdc,
});
const solana = (network: SolanaSettings['network']): SolanaSettings => ({
  kind: 'solana',
  chain: 'solana',
  rpcUrls,
  network,
  usdcMint: mint,
});

const networks = {
  mainnet: bitcoin('mainnet'),
  testnet: bitcoin('testnet'),
  signet: bitcoin('signet'),
  regtest: bitcoin('regtest'),
  ethereum: evm('ethereum', 1),
  base: evm('base', 8_453),
  polygon: evm('polygon', 137),
  'solana mainnet': solana('mainnet'),
  'solana devnet': solana('devnet'),
  'solana testnet': solana('testnet'),
  'solana local': solana('local'),
} satisfies Record<string, ChainSettings>;
type Network = keyof typeof networks;
const everywhere = Object.keys(networks) as Network[];

/** Legacy addresses are the same on all test networks; the segwit ones of testnet and signet are. */
const legacyTest: Network[] = ['testnet', 'signet', 'regtest'];
const segwitTest: Network[] = ['testnet', 'signet'];
const evms: Network[] = ['ethereum', 'base', 'polygon'];
const solanas: Network[] = ['solana mainnet', 'solana devnet', 'solana testnet', 'solana local'];

const regtestAddress = openBitcoinWallet('regtest', phrase).address('deposit', 0);

type Row = [what: string, text: string, accepted: Network[], canonical?: string];

const right: Row[] = [
  ['Bitcoin P2PKH', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', ['mainnet']],
  ['Bitcoin P2SH', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', ['mainnet']],
  ['Bitcoin P2WPKH', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', ['mainnet']],
  [
    'Bitcoin P2WPKH in capitals, as QR codes have it',
    'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
    ['mainnet'],
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  ],
  ['Bitcoin P2WSH', 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3', ['mainnet']],
  ['Bitcoin Taproot', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', ['mainnet']],
  ['Bitcoin test P2PKH', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', legacyTest],
  ['Bitcoin test P2SH', '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', legacyTest],
  ['Bitcoin test P2WPKH', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', segwitTest],
  ['Bitcoin test P2WSH', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7', segwitTest],
  ['Bitcoin test Taproot', 'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c', segwitTest],
  ['Bitcoin regtest P2WPKH', regtestAddress, ['regtest']],
  ['EVM with its checksum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', evms, usdc],
  ['EVM in lower case', usdc, evms],
  ['EVM in upper case', `0x${usdc.slice(2).toUpperCase()}`, evms, usdc],
  ['Solana', '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', solanas],
  ['Solana of 43 letters', 'US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx', solanas],
];

const wrong: [what: string, text: string][] = [
  ['nothing', ''],
  ['a name', 'vitalik.eth'],
  ['a payment URI', 'bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['Bitcoin with a space before', ' bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['Bitcoin with a line break after', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4\n'],
  ['P2PKH with a wrong checksum', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3'],
  ['P2SH with a wrong checksum', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLz'],
  ['P2PKH in lower case', '1bvbmseystwetqtfn5au4m4gfg7xjanvn2'],
  ['P2WPKH with a wrong checksum', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5'],
  ['P2WPKH in mixed case', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T4'],
  ['P2WPKH with two letters changed places', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv83ft4'],
  ['version 0 with the checksum of later versions', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh'],
  [
    'Taproot with the checksum of version 0',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
  ],
  ['test version 0 with a later checksum', 'tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47'],
  ['another chain’s prefix', 'tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty'],
  ['version 1 of 40 bytes', 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y'],
  ['version 16, which means nothing yet', 'BC1SW50QGDZ25J'],
  ['version 2, which means nothing yet', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'],
  ['an empty program', 'bc1gmk9yu'],
  ['a program of 16 bytes', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P'],
  ['a Litecoin address', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
  ['EVM with one letter in the wrong case', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'],
  ['EVM with one digit changed under the checksum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAec'],
  ['EVM without prefix', usdc.slice(2)],
  ['EVM of 19 bytes', usdc.slice(0, -2)],
  ['EVM of 21 bytes', `${usdc}00`],
  ['a transaction hash', `0x${'ab'.repeat(32)}`],
  ['Solana of 31 bytes', '44aLB2AXRPXCkyeVpyU8kHr4p56Vhwfy8cdz1unGjHR'],
  ['Solana of 33 bytes', '22eS8EtzV245szybe3fqk3tDmsoXmthLRuUo5GoFNKi8jZ'],
  ['Solana with a letter that base58 does not have', '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB40'],
  ['Solana’s system program', '11111111111111111111111111111111'],
  ['the token’s mint', mint],
  ['a Solana signature', '5'.repeat(88)],
];

describe('an address', () => {
  test.each(right)(
    '%s is one where it belongs, and nowhere else',
    (_what, text, accepted, canonical = text) => {
      const found = everywhere.map((network) => [network, checkAddress(networks[network], text)]);
      expect(found).toEqual(
        everywhere.map((network) => [network, accepted.includes(network) ? canonical : undefined]),
      );
    },
  );

  test.each(wrong)('%s is none anywhere', (_what, text) => {
    for (const network of everywhere) {
      expect([network, checkAddress(networks[network], text)]).toEqual([network, undefined]);
    }
  });

  test('that is canonical stays what it is, also as people see it', () => {
    for (const [, text, accepted, canonical = text] of right) {
      for (const network of accepted) {
        const settings = networks[network];
        expect(checkAddress(settings, canonical)).toBe(canonical);
        expect(checkAddress(settings, showAddress(settings.chain, canonical))).toBe(canonical);
      }
    }
    expect(showAddress('polygon', usdc)).toBe('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed');
  });
});

describe('the registry', () => {
  test('has every chain; one that is missing does not compile', () => {
    const { evm: _evm, ...others } = drivers;
    // @ts-expect-error: there is no driver for the EVM chains
    const incomplete: Drivers = others;
    expect(Object.keys(incomplete)).toEqual(['bitcoin', 'solana']);
    expect(chains.map((chain: Chain) => chainKinds[chain]).every((kind) => kind in drivers)).toBe(true);
    // @ts-expect-error: a driver that cannot read is none
    const mute: Drivers['solana'] = { ...drivers.solana, reader: undefined };
    expect(mute.reader).toBeUndefined();
  });

  test('asks for payments as the wallets of each chain want it', () => {
    const to = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
    const solanaTo = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
    expect(paymentUri(networks.mainnet, 'BTC', to, units(123_456_789n))).toBe(
      `bitcoin:${to}?amount=1.23456789`,
    );
    expect(paymentUri(networks.base, 'ETH_BASE', usdc, units(5n))).toBe(
      'ethereum:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed@8453?value=5',
    );
    expect(paymentUri(networks['solana local'], 'SOL', solanaTo, units(1_500_000_000n))).toBe(
      `solana:${solanaTo}?amount=1.5`,
    );
    expect(paymentUri(networks['solana local'], 'USDC_SOL', solanaTo, units(25_500_000n))).toBe(
      `solana:${solanaTo}?amount=25.5&spl-token=${mint}`,
    );
    for (const settings of Object.values(networks)) {
      const other = settings.kind === 'bitcoin' ? 'SOL' : 'BTC';
      expect(() => paymentUri(settings, other, to, units(1n))).toThrow('not an asset');
    }
  });

  test('derives deposit addresses where public keys do, and those the sender has keys for', async () => {
    const bitcoinXpub = openBitcoinWallet('regtest', phrase).accountXpub;
    const evmXpub = openWallet(phrase).accountXpub;
    for (const [settings, xpub] of [
      [networks.regtest, bitcoinXpub],
      [networks.ethereum, evmXpub],
      [networks.polygon, evmXpub],
    ] as const) {
      const sender = connectSender<ChainSettings['kind']>(settings, phrase);
      const addresses = depositAddresses(settings, xpub);
      for (const index of [0, 1, 2, 3, 4]) expect(addresses?.at(index)).toBe(sender.depositAddress(index));
      expect(checkAddress(settings, sender.depositAddress(3))).toBe(sender.depositAddress(3));
      expect(checkAddress(settings, sender.hotAddress)).toBe(sender.hotAddress);
      await sender.close();
    }
    expect(depositAddresses(networks['solana local'], evmXpub)).toBeUndefined();
    expect(() => depositAddresses(networks.mainnet, bitcoinXpub)).toThrow('tpub');
  });

  test('connects each kind to its reader and sender, and one chain by several nodes as one', async () => {
    for (const settings of Object.values<ChainSettings>(networks)) {
      const several = {
        ...settings,
        rpcUrls: [new Secret('http://127.0.0.1:1'), new Secret('http://127.0.0.1:2')],
      };
      for (const given of [settings, several]) {
        const [reader, sender] = [connectReader(given), connectSender(given, phrase)];
        expect([reader.chain, sender.chain]).toEqual([settings.chain, settings.chain]);
        await expect(reader.head()).rejects.toMatchObject({ name: 'RpcUnavailable' });
        expect(await sender.broadcast('')).toBe('rejected');
        await Promise.all([reader.close(), sender.close()]);
      }
    }
  });

  test('opens no wallet of wrong words, and does not repeat them', () => {
    for (const settings of Object.values<ChainSettings>(networks)) {
      for (const words of ['', 'hunter2', phrase.replace('junk', 'test')]) {
        expect(() => connectSender(settings, words)).toThrow('this is not a BIP-39 recovery phrase');
      }
    }
  });

  test('has no hot wallet that is a deposit address', async () => {
    for (const settings of [networks.mainnet, networks.regtest, networks.base, networks['solana local']]) {
      const sender = connectSender<ChainSettings['kind']>(settings, phrase);
      const deposits = Array.from({ length: 10 }, (_, index) => sender.depositAddress(index));
      expect(deposits).not.toContain(sender.hotAddress);
      expect(new Set(deposits).size).toBe(10);
      await sender.close();
    }
  });
});
