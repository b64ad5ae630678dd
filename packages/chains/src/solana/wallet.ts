import { hash } from 'node:crypto';
import { assets } from '@quittance/shared/assets';
import { formatUnits } from '@quittance/shared/money';
import { getAddressDecoder, isAddress } from '@solana/kit';
import { HDKey } from 'micro-key-producer/slip10.js';
import type { WalletAddresses, WantedPayment } from '../chain.ts';
import type { Ed25519Key } from '../hot-key.ts';
import { seedOf } from '../keys.ts';
import { mintOf, type SolanaNetwork, tokensOf } from './network.ts';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './rpc.ts';

const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
/** Programs that people copy from an explorer instead of a wallet. Money sent there is lost. */
const NOBODYS = new Set([SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ASSOCIATED_TOKEN_PROGRAM]);

/** Deposits end with 0, the hot wallet with 1: no deposit can ever be the hot wallet. */
const DEPOSIT_CHANGE = 0;
const HOT_CHANGE = 1;

/**
 * The canonical form of an address somebody typed, or undefined when it is none: 32 bytes in base58. There is no
 * checksum, and all networks have the same addresses: a wrong letter is not noticed.
 *
 * Addresses that are no public key (of programs: vaults of several signers, say) can be paid, and are accepted. What
 * else can be known of an address only the node knows: whether it is a token account, a mint or a program, all of
 * which the sender refuses.
 */
export function checkAddress(network: SolanaNetwork, text: string): string | undefined {
  if (!isAddress(text) || NOBODYS.has(text) || tokensOf(network).has(text)) return undefined;
  return text;
}

/** A longer text makes a QR code that is hard to read. In bytes as the URI has them. */
const TEXT_BYTES_MAX = 90;

/** What a wallet opens to pay, all of it filled in (Solana Pay). */
export function paymentUri(network: SolanaNetwork, payment: WantedPayment): string {
  const { asset, address, amount, reference, label, message } = payment;
  const mint = mintOf(network, asset);
  const fields = [
    ['amount', formatUnits(amount, assets[asset].decimals)],
    ['spl-token', mint],
    ['reference', referenceKey(reference)],
    ['label', shortText(label)],
    ['message', shortText(message)],
  ];
  const given = fields.filter(([, value]) => value !== undefined);
  return `solana:${address}?${given.map(([name, value]) => `${name}=${value}`).join('&')}`;
}

/**
 * The key by which wallets and explorers find the transaction of a payment: it is in there as an account that is neither read
 * nor written. Nobody has a private key for it, and payments are not recognised by it.
 */
export const referenceKey = (name: string): string =>
  getAddressDecoder().decode(hash('sha256', `quittance.reference.${name}`, 'buffer'));

/** The beginning of a text, percent-encoded. */
function shortText(text = ''): string | undefined {
  let encoded = '';
  for (const character of text.toWellFormed()) {
    const next = encodeURIComponent(character);
    if (encoded.length + next.length > TEXT_BYTES_MAX) break;
    encoded += next;
  }
  return encoded === '' ? undefined : encoded;
}

/** A key pair that does not show its secret. */
export type SolanaKeyPair = {
  address: string;
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
};

/** The key of a hot wallet as a key pair. */
export const keyPairOf = ({ publicKey, sign }: Ed25519Key): SolanaKeyPair => ({
  address: getAddressDecoder().decode(publicKey),
  sign,
});

/**
 * The keys. Only the signer and tools of the operator open one; nothing that can be printed holds a secret.
 * `depositAddress`: m/44'/501'/index'/0', what most wallets show as their account `index`.
 */
export type SolanaWallet = WalletAddresses & {
  hotKeyPair: SolanaKeyPair;
  depositKeyPair(index: number): SolanaKeyPair;
};

/**
 * Opens the wallet of a BIP-39 recovery phrase. The error of a wrong one does not repeat it. There is no public derivation on
 * this curve: a service that can derive addresses can spend.
 */
export function openWallet(phrase: string): SolanaWallet {
  const root = HDKey.fromMasterSeed(seedOf(phrase)).derive("m/44'/501'");
  const keyPair = (account: number, change: number): SolanaKeyPair => {
    const key = root.derive(`m/${account}'/${change}'`);
    return {
      address: getAddressDecoder().decode(key.publicKeyRaw),
      // The same message gives the same signature, always (RFC 8032).
      sign: (message) => key.sign(message),
    };
  };
  const hotKeyPair = keyPair(0, HOT_CHANGE);
  return {
    hotAddress: hotKeyPair.address,
    depositAddress: (index) => keyPair(index, DEPOSIT_CHANGE).address,
    hotKeyPair,
    depositKeyPair: (index) => keyPair(index, DEPOSIT_CHANGE),
  };
}
