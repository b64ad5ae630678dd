import { generateMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

const BITS = { 12: 128, 24: 256 } as const;

const normalized = (phrase: string): string => phrase.trim().split(/\s+/).join(' ');

/** Whether it is a BIP-39 recovery phrase with a right checksum, however its words are spaced. */
export const isRecoveryPhrase = (phrase: string): boolean => validateMnemonic(normalized(phrase), wordlist);

/** The recovery phrase of a new wallet. */
export const newRecoveryPhrase = (words: keyof typeof BITS): string =>
  generateMnemonic(wordlist, BITS[words]);

/** The seed that the keys of every chain derive from. The error of a wrong phrase does not repeat it. */
export function seedOf(phrase: string): Uint8Array {
  if (!isRecoveryPhrase(phrase)) throw new Error('this is not a BIP-39 recovery phrase');
  return mnemonicToSeedSync(normalized(phrase));
}
