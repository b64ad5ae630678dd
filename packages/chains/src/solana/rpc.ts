import { ExactNumber } from '@quittance/shared/exact-json';
import { z } from 'zod';
import { type Rpc, RpcRefused, read } from '../json-rpc.ts';

/*
 * Only single calls: development nodes refuse batches, and so do some providers. And only HTTP: what a subscription
 * would tell, and loses with its connection, a question tells as well.
 */

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

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

const account = z.object({
  value: z
    .object({
      lamports,
      owner: base58,
      executable: z.boolean(),
      data: z.tuple([z.string(), z.literal('base64')]),
    })
    .nullable(),
});

export type SolanaAccount = { lamports: bigint; owner: string; executable: boolean; data: Uint8Array };

/** What is at an address as of the newest confirmed block; undefined when nothing is. */
export async function accountOf(rpc: Rpc, address: string): Promise<SolanaAccount | undefined> {
  const method = 'getAccountInfo';
  const params = [address, { encoding: 'base64', commitment: 'confirmed' }];
  const { value } = read(account, await rpc.call(method, params, undefined, 'exact'), method);
  if (value === null) return undefined;
  return { ...value, data: Buffer.from(value.data[0], 'base64') };
}

export async function slotAt(rpc: Rpc, commitment: Commitment): Promise<number> {
  return read(count, await rpc.call('getSlot', [{ commitment }]), 'getSlot');
}
