import { generateMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

const BITS = { 12: 128, 24: 256 } as const;

const wordsOf = (phrase: string): string => phrase.trim().split(/\s+/).join(' ');

/** Whether the words of a BIP-39 wallet and their checksum are right, however they are spaced. */
export const isWalletPhrase = (phrase: string): boolean => validateMnemonic(wordsOf(phrase), wordlist);

/** The words of a new wallet. */
export const newWalletPhrase = (words: keyof typeof BITS): string => generateMnemonic(wordlist, BITS[words]);

/** What the keys of every chain derive from. The error of a wrong phrase does not repeat it. */
export function seedOf(phrase: string): Uint8Array {
  if (!isWalletPhrase(phrase)) throw new Error('these are not the words of a BIP-39 wallet');
  return mnemonicToSeedSync(wordsOf(phrase));
}
