import { ExactNumber } from '@quittance/shared/exact-json';
import { z } from 'zod';
import { ask, type Numbers, type Rpc, RpcRefused } from '../json-rpc.ts';

/*
 * Only single calls: development nodes refuse batches, and so do some providers. And only HTTP: what a subscription
 * would tell, and loses with its connection, a question tells as well.
 */

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

export const BLOCK_TIMEOUT_MS = 20_000;

/** Hashes, signatures and addresses as nodes write them. */
export const base58 = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,88}$/);
/** Slots and heights. */
export const count = z.number().int().nonnegative();
/** Lamports: a node writes them as a JSON number, which may be longer than a double holds. Ask for `exact` numbers. */
export const lamports = z
  .union([z.number().int().nonnegative(), z.instanceof(ExactNumber).transform(({ source }) => source)])
  .transform((value, context) => {
    if (/^\d{1,20}$/.test(String(value))) return BigInt(value);
    context.addIssue({ code: 'custom', message: 'not a number of lamports' });
    return z.NEVER;
  });
/** Amounts of tokens, which nodes write as text. */
export const tokenUnits = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform((text) => BigInt(text));

/** The most the network knows: `confirmed` is voted for, `finalized` cannot be undone. */
export type Commitment = 'confirmed' | 'finalized';

/** There is no block at this slot: it was skipped, or has not been reached. */
const NO_BLOCK = new Set([-32_004, -32_007, -32_009]);

/** As a development node says it that has just begun, in the code for wrong parameters. */
const BEFORE_ITS_FIRST = /is before the first local slot/;

export const isNoBlock = (error: unknown): boolean =>
  error instanceof RpcRefused && (NO_BLOCK.has(error.code) || BEFORE_ITS_FIRST.test(error.message));

export async function slotAt(rpc: Rpc, commitment: Commitment): Promise<number> {
  return await ask(rpc, count, 'getSlot', [{ commitment }]);
}

/** The slots of blocks from a slot on, lowest first. */
export async function slotsFrom(
  rpc: Rpc,
  slot: number,
  limit: number,
  commitment: Commitment,
): Promise<number[]> {
  const found = await ask(rpc, z.array(count), 'getBlocksWithLimit', [slot, limit, { commitment }]);
  return found
    .filter((one) => one >= slot)
    .toSorted((a, b) => a - b)
    .slice(0, limit);
}

/** What to tell of a block or transaction: of any version, and no rewards. */
export const known = (commitment: Commitment) => ({
  commitment,
  encoding: 'json',
  maxSupportedTransactionVersion: 0,
});

/** The block of a slot, with so much of its transactions; null when there is none. */
export async function blockAt<T extends z.ZodType>(
  rpc: Rpc,
  form: T,
  slot: number,
  { transactionDetails, commitment = 'finalized', numbers = 'doubles' }: BlockDetails,
): Promise<z.infer<T> | null> {
  const config = { ...known(commitment), transactionDetails, rewards: false };
  try {
    return await ask(rpc, form.nullable(), 'getBlock', [slot, config], BLOCK_TIMEOUT_MS, numbers);
  } catch (error) {
    if (isNoBlock(error)) return null;
    throw error;
  }
}

type BlockDetails = {
  transactionDetails: 'accounts' | 'signatures' | 'none';
  commitment?: Commitment;
  numbers?: Numbers;
};
