import { getAddressDecoder } from '@solana/kit';
import { HDKey } from 'micro-key-producer/slip10.js';
import { seedOf } from '../keys.ts';

/** Deposits end with 0, the hot wallet with 1: no deposit can ever be the hot wallet. */
const DEPOSIT_CHANGE = 0;
const HOT_CHANGE = 1;

/** A key pair that does not show its secret. */
export type SolanaSigner = { address: string; sign(message: Uint8Array): Uint8Array };

/** The keys. Only the payouts service and the sandbox open one; nothing that can be printed holds a secret. */
export type SolanaWallet = {
  hotAddress: string;
  /** m/44'/501'/index'/0': what most wallets show as their account `index`. */
  depositAddress(index: number): string;
  hotSigner: SolanaSigner;
  depositSigner(index: number): SolanaSigner;
};

/**
 * Opens the wallet of a BIP-39 recovery phrase. The error of a wrong one does not repeat it. There is no public derivation on
 * this curve: a service that can derive addresses can spend.
 */
export function openWallet(phrase: string): SolanaWallet {
  const root = HDKey.fromMasterSeed(seedOf(phrase)).derive("m/44'/501'");
  const signer = (account: number, change: number) => signerOf(root.derive(`m/${account}'/${change}'`));
  const hotSigner = signer(0, HOT_CHANGE);
  return {
    hotAddress: hotSigner.address,
    depositAddress: (index) => signer(index, DEPOSIT_CHANGE).address,
    hotSigner,
    depositSigner: (index) => signer(index, DEPOSIT_CHANGE),
  };
}

function signerOf(key: HDKey): SolanaSigner {
  return {
    address: getAddressDecoder().decode(key.publicKeyRaw),
    // The same message gives the same signature, always (RFC 8032).
    sign: (message) => key.sign(message),
  };
}
