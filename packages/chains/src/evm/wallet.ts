import { HDKey } from '@scure/bip32';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { bytesToHex } from 'viem/utils';
import { seedOf } from '../recovery-phrase.ts';
import { DEPOSIT_ACCOUNT_PATH } from './address.ts';

const HOT_PATH = "m/44'/60'/1'/0/0";

/** The keys. Only the payouts service and the sandbox open one; nothing that can be printed holds a secret. */
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
    depositAddress: (index) => depositSigner(index).address.toLowerCase(),
    accountXpub: account.publicExtendedKey,
    hotSigner,
    depositSigner,
  };
}

function signerOf({ privateKey }: HDKey): PrivateKeyAccount {
  if (privateKey === null) throw new Error('this key cannot sign');
  return privateKeyToAccount(bytesToHex(privateKey));
}
