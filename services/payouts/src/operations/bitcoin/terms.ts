import type { Spend } from '@quittance/chains/bitcoin/spend';
import { branches } from '@quittance/chains/bitcoin/wallet';
import { type Units, units } from '@quittance/shared/money';
import { z } from 'zod';

const amount = z.string().regex(/^\d+$/).transform(units);
const utxo = z.object({
  outpoint: z.string(),
  branch: z.enum(branches),
  index: z.int(),
  amount,
});

/** What a transaction was signed from, beside what it pays. The next attempt of its group is signed from the same. */
const termsSchema = z
  .object({
    /** What it spends. */
    utxos: z.array(utxo),
    /** The index of the group's change address, also when there is no change. */
    change_index: z.int(),
    fee: amount,
    virtual_bytes: z.int(),
  })
  .transform(({ utxos, change_index: changeIndex, fee, virtual_bytes: virtualBytes }) => {
    return { utxos, changeIndex, fee, virtualBytes };
  });
export type BitcoinTerms = z.output<typeof termsSchema>;

export const readBitcoinTerms = (stored: unknown): BitcoinTerms => termsSchema.parse(stored);

export const writeBitcoinTerms = (
  { utxos }: Pick<Spend, 'utxos'>,
  changeIndex: number,
  { fee, virtualBytes }: { fee: Units; virtualBytes: number },
): z.input<typeof termsSchema> => ({
  utxos: utxos.map(({ outpoint, branch, index, amount: text }) => {
    return { outpoint, branch, index, amount: text.toString() };
  }),
  change_index: changeIndex,
  fee: fee.toString(),
  virtual_bytes: virtualBytes,
});

/** Satoshi per virtual byte, rounded down. */
export const feeRateOf = ({ fee, virtualBytes }: BitcoinTerms): bigint => fee / BigInt(virtualBytes);
