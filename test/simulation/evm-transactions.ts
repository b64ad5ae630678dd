import { hash } from 'node:crypto';
import type { EvmFees, SignedTransaction } from '@quittance/chains/chain';
import type { AssetSymbol } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';

export const GWEI = 10n ** 9n;
export const HOT = `0x${'a0'.repeat(20)}`;
export const DEPOSITS = `0x${'d0'.repeat(16)}`;
export const depositAddress = (index: number): string => `${DEPOSITS}${index.toString(16).padStart(8, '0')}`;

type Wire = {
  from: string;
  nonce: number;
  asset: AssetSymbol;
  /** Where the money comes from: `from`, but for a token sweep. */
  source: string;
  to: string;
  amount: bigint;
  gas: bigint;
  /** What is offered for each unit of gas. */
  fee: bigint;
};
export type Transaction = Wire & { hash: string; isOurs: boolean };
export type Mined = { transaction: Transaction; succeeded: boolean; feePaid: bigint };
export type EvmBlock = { height: number; hash: string; parentHash: string; time: Date; mined: Mined[] };

export const priced = (gas: bigint, { maxFeePerGas }: EvmFees) => ({ gas, fee: maxFeePerGas });

export function signed(wire: Wire): SignedTransaction {
  const raw = JSON.stringify(wire, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  return { raw, txHash: hashOf(raw), maxCost: units(wire.gas * wire.fee) };
}

const hashOf = (raw: string): string => `0x${hash('sha256', raw)}`;

export function parse(raw: string): Transaction {
  const wire = JSON.parse(raw) as Record<keyof Wire, string> & { nonce: number; asset: AssetSymbol };
  return {
    ...wire,
    amount: BigInt(wire.amount),
    gas: BigInt(wire.gas),
    fee: BigInt(wire.fee),
    hash: hashOf(raw),
    isOurs: true,
  };
}
