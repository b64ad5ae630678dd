import { resolve } from 'node:path';
import { type BitcoinNetwork, bitcoinNetworks } from '@quittance/chains/bitcoin/network';
import { depositAddresses as bitcoinAddresses, openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { depositAddresses as evmAddresses, openWallet as openEvmWallet } from '@quittance/chains/evm/wallet';
import { openWallet as openSolanaWallet } from '@quittance/chains/solana/wallet';
import { reason } from '@quittance/shared/logger';
import { z } from 'zod';
import { CommandError, type Surroundings } from './surroundings.ts';

export const KEYSTORE = 'WALLET_KEYSTORE';
export const PASSPHRASE_FILE = 'WALLET_PASSPHRASE_FILE';
/** From the working folder of a checkout and of an image. */
export const USUAL_KEYSTORE = 'wallet/keystore.json';
export const USUAL_PASSPHRASE_FILE = 'wallet/passphrase';

const BITCOIN_XPUB = 'BITCOIN_XPUB';
const EVM_XPUBS = ['ETHEREUM_XPUB', 'BASE_XPUB', 'POLYGON_XPUB'];
export const XPUBS: readonly string[] = [BITCOIN_XPUB, ...EVM_XPUBS];

/** As docker-compose.yml has it where none is given. */
const USUAL_NETWORK = 'mainnet';
const networkSchema = z.enum(bitcoinNetworks);

/** What may be known of a wallet by those who cannot spend from it. */
export type WalletKeys = {
  network: BitcoinNetwork;
  /** By setting of invoices. */
  xpubs: ReadonlyMap<string, string>;
  hotWallets: { bitcoin: string; evm: string; solana: string };
};

/** @param given a value of BITCOIN_NETWORK; the keys of another network than is meant would be given out as addresses */
export function walletKeysOf(phrase: string, given: string | undefined): WalletKeys {
  const network = networkSchema.safeParse(given || USUAL_NETWORK);
  if (!network.success)
    throw new CommandError(`BITCOIN_NETWORK: must be one of ${bitcoinNetworks.join(', ')}.`);
  const [bitcoin, evm] = [openBitcoinWallet(network.data, phrase), openEvmWallet(phrase)];
  return {
    network: network.data,
    xpubs: new Map(XPUBS.map((name) => [name, (name === BITCOIN_XPUB ? bitcoin : evm).accountXpub])),
    hotWallets: {
      bitcoin: bitcoin.hotAddress,
      evm: evm.hotAddress,
      solana: openSolanaWallet(phrase).hotAddress,
    },
  };
}

/** Whether a public key is the wallet's, by its first address: the same key can be written in more than one way. */
export function isOfWallet(name: string, xpub: string, { network, xpubs }: WalletKeys): boolean {
  const first = (key: string) =>
    (name === BITCOIN_XPUB ? bitcoinAddresses(network, key) : evmAddresses(key)).at(0);
  try {
    return first(xpub) === first(xpubs.get(name) ?? '');
  } catch (error) {
    throw new CommandError(`${name}: ${reason(error)}`);
  }
}

/** The files of a wallet, from the folder in which the command runs. */
export const walletFile = ({ cwd }: Pick<Surroundings, 'cwd'>, path: string): string => resolve(cwd, path);
