import { z } from 'zod';

const hex = (digits: string) => z.string().regex(new RegExp(`^0x[0-9a-fA-F]${digits}$`));

/** A number as JSON-RPC writes it: "0x1a". */
export const units256 = hex('{1,64}').transform((text) => BigInt(text));
/** A number that counts something: heights, seconds, nonces. */
// eslint-disable-next-line no-restricted-syntax -- heights, seconds and nonces are no money
export const count = units256.refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER)).transform(Number);
export const hash = hex('{64}').transform((text) => text.toLowerCase());
/** Canonical: lower case. */
export const address = hex('{40}').transform((text) => text.toLowerCase());
export const bytes = hex('*');

/** A number as JSON-RPC wants it. */
export const toHex = (value: number | bigint): string => `0x${value.toString(16)}`;

/** The fields of a receipt that make its fee. Networks on top of Ethereum, as Base, also charge an L1 data fee. */
export const feeFields = { gasUsed: units256, effectiveGasPrice: units256, l1Fee: units256.nullish() };

type FeeFields = { gasUsed: bigint; effectiveGasPrice: bigint; l1Fee?: bigint | null | undefined };

export const feeOf = ({ gasUsed, effectiveGasPrice, l1Fee }: FeeFields): bigint =>
  gasUsed * effectiveGasPrice + (l1Fee ?? 0n);

/** What every block tells of itself. */
export const header = z.object({ number: count, hash });
