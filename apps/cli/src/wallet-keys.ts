import { resolve } from 'node:path';
import { type BitcoinNetwork, bitcoinNetworks } from '@quittance/chains/bitcoin/network';
import {
  depositAddresses as bitcoinAddresses,
  checkAddress as checkBitcoinAddress,
  openBitcoinWallet,
} from '@quittance/chains/bitcoin/wallet';
import {
  checkAddress as checkEvmAddress,
  depositAddresses as evmAddresses,
  openWallet as openEvmWallet,
} from '@quittance/chains/evm/wallet';
import { openWallet as openSolanaWallet } from '@quittance/chains/solana/wallet';
import { reason } from '@quittance/shared/logger';
import { z } from 'zod';
import { CommandError, type Surroundings } from './surroundings.ts';

export const KEYSTORE = 'WALLET_KEYSTORE';
export const PASSPHRASE_FILE = 'WALLET_PASSPHRASE_FILE';

const EVM_CHAINS = ['ETHEREUM', 'BASE', 'POLYGON'];

/** As docker-compose.yml has it where none is given. */
const USUAL_NETWORK = 'mainnet';
const networkSchema = z.enum(bitcoinNetworks);

/** What may be known of a wallet by those who cannot spend from it. */
export type WalletKeys = {
  network: BitcoinNetwork;
  /** The extended public keys by setting of invoices. */
  xpubs: ReadonlyMap<string, string>;
  /** The hot wallets by setting of payouts. */
  hotAddresses: ReadonlyMap<string, string>;
};

/** @param given a value of BITCOIN_NETWORK; the keys of another network than is meant would be given out as addresses */
export function walletKeysOf(phrase: string, given: string | undefined): WalletKeys {
  const network = networkSchema.safeParse(given || USUAL_NETWORK);
  if (!network.success)
    throw new CommandError(`BITCOIN_NETWORK: must be one of ${bitcoinNetworks.join(', ')}.`);
  const [bitcoin, evm] = [openBitcoinWallet(network.data, phrase), openEvmWallet(phrase)];
  return {
    network: network.data,
    xpubs: new Map([
      ['BITCOIN_XPUB', bitcoin.accountXpub],
      ...EVM_CHAINS.map((chain) => [`${chain}_XPUB`, evm.accountXpub] as const),
    ]),
    hotAddresses: new Map([
      ['BITCOIN_HOT_ADDRESS', bitcoin.hotAddress],
      ...EVM_CHAINS.map((chain) => [`${chain}_HOT_ADDRESS`, evm.hotAddress] as const),
      ['SOLANA_HOT_ADDRESS', openSolanaWallet(phrase).hotAddress],
    ]),
  };
}

/** The settings that are not of this wallet: a key or an address can be written in more than one way. */
export function strangeTo(
  { network, xpubs, hotAddresses }: WalletKeys,
  given: ReadonlyMap<string, string>,
): string[] {
  const firstOf = (name: string, xpub: string) =>
    (name.startsWith('BITCOIN') ? bitcoinAddresses(network, xpub) : evmAddresses(xpub)).at(0);
  const canonical = (name: string, address: string): string | undefined => {
    if (name.startsWith('BITCOIN')) return checkBitcoinAddress(network, address);
    return name.startsWith('SOLANA') ? address : checkEvmAddress(address);
  };
  const others = (
    own: ReadonlyMap<string, string>,
    read: (name: string, text: string) => string | undefined,
  ) =>
    [...own].flatMap(([name, ours]) => {
      const text = given.get(name);
      try {
        return !text || read(name, text) === read(name, ours) ? [] : [name];
      } catch (error) {
        throw new CommandError(`${name}: ${reason(error)}`);
      }
    });
  return [...others(xpubs, firstOf), ...others(hotAddresses, canonical)];
}

/** The files of a wallet, from the folder in which the command runs. */
export const walletFile = ({ cwd }: Pick<Surroundings, 'cwd'>, path: string): string => resolve(cwd, path);
