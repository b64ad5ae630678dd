/** On Solana they have at most 88. */
export const TX_HASH_CHARACTERS_MAX = 100;

/** How a transaction's hash is stored: hexadecimal digits in small letters; the hashes of Solana differ in their case. */
export const storedTxHash = (text: string): string =>
  /^(0x)?[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : text;
