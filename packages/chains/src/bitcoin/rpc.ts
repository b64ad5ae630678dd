import { assets } from '@quittance/shared/assets';
import { ExactNumber } from '@quittance/shared/exact-json';
import { parseUnits, type Units } from '@quittance/shared/money';
import { z } from 'zod';
import { RpcRefused } from '../json-rpc.ts';

/** A hash of a block or a transaction, as Bitcoin shows it. */
export const hash = z.string().regex(/^[0-9a-f]{64}$/);
export const height = z.int().min(0);
/** Seconds since 1970. */
export const seconds = z
  .int()
  .min(0)
  .transform((value) => new Date(value * 1000));

/** Bitcoins as Core writes them, in satoshi: read from the text of the number, which has at most eight decimals. */
export const amount = z.union([z.instanceof(ExactNumber), z.int()]).transform((value, context): Units => {
  const source = value instanceof ExactNumber ? value.source : String(value);
  const parsed = parseUnits(source, assets.BTC.decimals);
  if (parsed.ok && parsed.value >= 0n) return parsed.value;
  context.addIssue(`${source} is no amount of bitcoins`);
  return z.NEVER;
});

/** Core's own numbers for refusals (rpc/protocol.h). */
const NOT_FOUND = -5;
const OUT_OF_RANGE = -8;

/** There is no such block or transaction, as against trouble of the node. */
export const isNotFound = (answer: unknown): answer is RpcRefused =>
  answer instanceof RpcRefused && answer.code === NOT_FOUND;

/**
 * The node has looked through its pool and all of its blocks. Without an index, or while that is being built, it says
 * the same of transactions that are there, in other words.
 */
export const isUnknownTransaction = (answer: unknown): answer is RpcRefused =>
  isNotFound(answer) && answer.message.includes('No such mempool or blockchain transaction');

/** The chain is not that high. */
export const isOutOfRange = (answer: unknown): answer is RpcRefused =>
  answer instanceof RpcRefused && answer.code === OUT_OF_RANGE;
