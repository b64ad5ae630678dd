import type { Utxo } from '@quittance/chains/bitcoin/spend';
import { type Units, units } from '@quittance/shared/money';
import { z } from 'zod';
import type { StoredUtxo } from '../../store/utxos.ts';

const amount = z.string().regex(/^\d+$/).transform(units);

const termsSchema = z.object({
  utxos: z.array(
    z.object({
      outpoint: z.string(),
      branch: z.enum(['deposit', 'hot', 'change']),
      index: z.int(),
      amount,
    }),
  ),
  change_index: z.int(),
  fee: amount,
  virtual_bytes: z.int(),
});

/** What a transaction was signed from, beside what it pays. The next attempt of its group is signed from the same. */
export type BitcoinTerms = {
  /** What it spends. */
  utxos: Utxo[];
  /** The index of the group's change address, also when there is no change. */
  changeIndex: number;
  fee: Units;
  virtualBytes: number;
};

export function readBitcoinTerms(stored: unknown): BitcoinTerms {
  const { utxos, change_index, fee, virtual_bytes } = termsSchema.parse(stored);
  return { utxos, changeIndex: change_index, fee, virtualBytes: virtual_bytes };
}

export const writeBitcoinTerms = ({ utxos, changeIndex, fee, virtualBytes }: BitcoinTerms): object => ({
  utxos: utxos.map((utxo) => ({ ...utxo, amount: utxo.amount.toString() })),
  change_index: changeIndex,
  fee: fee.toString(),
  virtual_bytes: virtualBytes,
});

/** Satoshi per virtual byte, rounded down. */
export const feeRateOf = ({ fee, virtualBytes }: BitcoinTerms): bigint => fee / BigInt(virtualBytes);

/** A UTXO as the sender wants it. */
export const spendable = ({ outpoint, branch, index, amount }: StoredUtxo): Utxo => ({
  outpoint,
  branch,
  index,
  amount,
});
