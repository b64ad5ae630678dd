/** The later of two places in an account's log; sequences are numbers of any size, as text. */
export const later = (a: string, b: string): string => (BigInt(a) > BigInt(b) ? a : b);
