import { describe, expect, test } from '@jest/globals';
import { type AssetSymbol, type Chain, chainKinds, chains } from '@quittance/shared/assets';
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
  openSigner,
  paymentUri,
  showAddress,
} from './registry.ts';
import type { BitcoinSettings, ChainSettings, EvmSettings, SolanaSettings } from './settings.ts';

const phrase = 'test test test test test test test test test test test junk';
/** A sender from the wallet of the phrase. */
const connected = (settings: ChainSettings, words = phrase) =>
  connectSender<ChainSettings['kind']>(
    settings,
    openSigner<ChainSettings['kind']>(settings, words).addresses,
  );
/** The deposit addresses of the keys. */
const addressesOf = (settings: ChainSettings): ((index: number) => string) => {
  const { addresses } = openSigner<ChainSettings['kind']>(settings, phrase);
  return 'address' in addresses
    ? (index) => addresses.address('deposit', index)
    : (index) => addresses.depositAddress(index);
};
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

const evms: Network[] = ['ethereum', 'base', 'polygon'];
const solanas: Network[] = ['solana mainnet', 'solana devnet', 'solana testnet', 'solana local'];
const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

test.each<[string, Network[], canonical?: string, shown?: string]>([
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', ['mainnet']],
  ['1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', ['mainnet']],
  ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', ['testnet', 'signet', 'regtest']],
  ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', ['testnet', 'signet']],
  ['bcrt1qqurswpc8qurswpc8qurswpc8qurswpc8dxm0gk', ['regtest']],
  [checksummed, evms, usdc, checksummed],
  ['4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', solanas],
  ['US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx', solanas],
  [mint, []],
])('%s is an address of %p alone', (text, accepted, canonical = text, shown = canonical) => {
  for (const name of Object.keys(networks) as Network[]) {
    const settings = networks[name];
    const found = checkAddress(settings, text);
    expect([name, found]).toEqual([name, accepted.includes(name) ? canonical : undefined]);
    if (found === undefined) continue;
    expect(showAddress(settings.chain, canonical)).toBe(shown);
    expect(checkAddress(settings, canonical)).toBe(canonical);
  }
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

  test('asks for payments of its own assets as the wallets of each chain want it', () => {
    const uri = (network: Network, asset: AssetSymbol) =>
      paymentUri(networks[network], { asset, address: usdc, amount: units(5n), reference: 'inv_1' });
    expect(uri('mainnet', 'BTC')).toMatch(/^bitcoin:/);
    expect(uri('base', 'ETH_BASE')).toBe(`ethereum:${checksummed}@8453?value=5`);
    expect(uri('solana local', 'USDC_SOL')).toContain(`spl-token=${mint}`);
    for (const network of Object.keys(networks) as Network[]) {
      const other = networks[network].kind === 'bitcoin' ? 'SOL' : 'BTC';
      expect(() => uri(network, other)).toThrow('not an asset');
    }
  });

  test('derives deposit addresses where public keys do, and those the signer has keys for', async () => {
    const bitcoinXpub = openBitcoinWallet('regtest', phrase).accountXpub;
    const evmXpub = openWallet(phrase).accountXpub;
    for (const [settings, xpub] of [
      [networks.regtest, bitcoinXpub],
      [networks.ethereum, evmXpub],
      [networks.polygon, evmXpub],
    ] as const) {
      const sender = connected(settings);
      const addresses = depositAddresses(settings, xpub);
      const ofKeys = addressesOf(settings);
      for (const index of [0, 1, 2, 3, 4]) expect(addresses?.at(index)).toBe(ofKeys(index));
      expect(checkAddress(settings, ofKeys(3))).toBe(ofKeys(3));
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
        const [reader, sender] = [connectReader(given), connected(given)];
        expect([reader.chain, sender.chain]).toEqual([settings.chain, settings.chain]);
        await expect(reader.head()).rejects.toMatchObject({ name: 'RpcUnavailable' });
        expect(await sender.broadcast('')).toBe('rejected');
        await Promise.all([reader.close(), sender.close()]);
      }
    }
  });

  test('opens a wallet however its words are spaced, and none of wrong words, which no error repeats', async () => {
    const spaced = `  ${phrase.replaceAll(' ', '\n ')} `;
    for (const settings of Object.values<ChainSettings>(networks)) {
      const [sender, same] = [connected(settings), connected(settings, spaced)];
      expect(same.hotAddress).toBe(sender.hotAddress);
      await Promise.all([sender.close(), same.close()]);
      for (const words of ['', 'test test test', phrase.replace('junk', 'test'), `${phrase} secret`]) {
        expect(() => openSigner(settings, words)).toThrow(/^this is not a BIP-39 recovery phrase$/);
      }
    }
  });

  test('has no hot wallet that is a deposit address', async () => {
    for (const settings of [networks.mainnet, networks.regtest, networks.base, networks['solana local']]) {
      const sender = connected(settings);
      const deposits = Array.from({ length: 10 }, (_, index) => addressesOf(settings)(index));
      expect(deposits).not.toContain(sender.hotAddress);
      expect(new Set(deposits).size).toBe(10);
      await sender.close();
    }
  });
});
