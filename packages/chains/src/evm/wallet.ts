import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { HDKey } from '@scure/bip32';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { bytesToHex, getAddress, isAddress, keccak256 } from 'viem/utils';
import type { DepositAddresses } from '../chain.ts';
import type { Secp256k1Key } from '../hot-key.ts';
import { addressesBelow, type PublicPoint, seedOf } from '../keys.ts';
import { contractOf, type EvmNetwork } from './network.ts';

/** BIP-44: one account a purpose. Deposits are the children of the first account's external chain. */
const DEPOSIT_ACCOUNT_PATH = "m/44'/60'/0'";
const HOT_PATH = "m/44'/60'/1'/0/0";

/**
 * The canonical form of an address somebody typed, or undefined when it is none. A body in lower or upper case
 * only carries no checksum (EIP-55); in mixed case it must be right, or it is a typing error.
 */
export function checkAddress(text: string): string | undefined {
  const isUpperCase = /^0x[0-9A-F]{40}$/.test(text);
  return isUpperCase || isAddress(text) ? text.toLowerCase() : undefined;
}

/** An address as people see it: with its checksum. */
export const showAddress = (canonical: string): string => getAddress(canonical);

/** The addresses below an account's extended public key, see addressesBelow. */
export const depositAddresses = (xpub: string): DepositAddresses =>
  addressesBelow(xpub, {
    path: DEPOSIT_ACCOUNT_PATH,
    addressOf: addressOfPoint,
  });

/** The canonical address of a public key, compressed or not. */
export const addressOf = (publicKey: Uint8Array): string =>
  addressOfPoint(secp256k1.Point.fromBytes(publicKey));

const addressOfPoint = (point: PublicPoint): string =>
  `0x${keccak256(point.toBytes(false).subarray(1)).slice(-40)}`;

/** What a wallet opens to pay `amount` to `address`, both filled in (EIP-681). */
export function paymentUri(network: EvmNetwork, asset: AssetSymbol, address: string, amount: Units): string {
  const contract = contractOf(network, asset);
  if (contract === undefined) return `ethereum:${showAddress(address)}@${network.chainId}?value=${amount}`;
  return `ethereum:${showAddress(contract)}@${network.chainId}/transfer?address=${showAddress(address)}&uint256=${amount}`;
}

/** The keys. Only the signer and tools of the operator open one; nothing that can be printed holds a secret. */
export type Wallet = {
  hotAddress: string;
  depositAddress(index: number): string;
  /** What a service that only gives out addresses is configured with. */
  accountXpub: string;
  hotSigner: PrivateKeyAccount;
  depositSigner(index: number): PrivateKeyAccount;
};

/** Opens the wallet of a BIP-39 recovery phrase. The error of a wrong one does not repeat it. */
export function openWallet(phrase: string): Wallet {
  const root = HDKey.fromMasterSeed(seedOf(phrase));
  const account = root.derive(DEPOSIT_ACCOUNT_PATH);
  const external = account.deriveChild(0);
  const hotSigner = signerOf(root.derive(HOT_PATH));
  const depositSigner = (index: number) => signerOf(external.derive(`m/${index}`));
  return {
    hotAddress: hotSigner.address.toLowerCase(),
    // By the public key alone, so that who has this function has no key.
    depositAddress: depositAddresses(account.publicExtendedKey).at,
    accountXpub: account.publicExtendedKey,
    hotSigner,
    depositSigner,
  };
}

/** The key of an account as that of a hot wallet. The same digest gives the same signature (RFC 6979). */
export function keyOf(account: PrivateKeyAccount): Secp256k1Key {
  return {
    publicKey: secp256k1.Point.fromHex(account.publicKey.slice(2)).toBytes(),
    async sign(digest) {
      const signature = await account.sign({ hash: bytesToHex(digest) });
      return {
        r: BigInt(signature.slice(0, 66)),
        s: BigInt(`0x${signature.slice(66, 130)}`),
        yParity: signature.endsWith('1b') ? 0 : 1,
      };
    },
  };
}

function signerOf({ privateKey }: HDKey): PrivateKeyAccount {
  if (privateKey === null) throw new Error('this key cannot sign');
  return privateKeyToAccount(bytesToHex(privateKey));
}
