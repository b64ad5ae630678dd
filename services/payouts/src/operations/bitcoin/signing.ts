import type { SignedSpend, Spend } from '@quittance/chains/bitcoin/spend';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { sum, units } from '@quittance/shared/money';
import { z } from 'zod';
import type { BitcoinPorts } from '../../ports.ts';
import { movePayout, type Payout } from '../../store/payouts.ts';
import { insertPayments } from '../../store/replacement-groups.ts';
import { insertSigned, type Transaction } from '../../store/transactions.ts';
import { insertChangeUtxo, lockUtxos } from '../../store/utxos.ts';
import { insertWalletOnce } from '../../store/wallets.ts';

const amount = z.string().regex(/^\d+$/).transform(units);
const utxo = z.object({
  outpoint: z.string(),
  branch: z.enum(['deposit', 'hot', 'change']),
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
  { utxos }: Spend,
  changeIndex: number,
  { fee, virtualBytes }: SignedSpend,
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

type BatchOrder = {
  /** In the order of the outputs. Empty for a merge of UTXOs. */
  payouts: readonly Payout[];
  spend: Spend;
  changeIndex: number;
  finalHeightWhenSigned: number;
  minConfirmations: number;
};

/** Thrown to roll back the database transaction: the plan is out of date. */
class NotNow extends Error {}

/**
 * Signs one transaction for these payouts, or a merge, locks its UTXOs and stores its bytes before they are sent. A lost
 * lease, a payout that is not reserved any more, and a UTXO that is not available any more are refused inside the same
 * database transaction.
 */
export async function signBatch(
  ports: BitcoinPorts,
  lease: Lease,
  order: BatchOrder,
): Promise<Transaction | undefined> {
  // Before the database transaction: hundreds of signatures take time, and locks must not be held for them.
  const signed = await ports.signer.signSpend(order.spend);
  try {
    const stored = await ports.db.transaction((trx) => store(trx, ports, lease, order, signed));
    failpoint(`bitcoin.${stored.purpose}s.signed`);
    return stored;
  } catch (error) {
    if (error instanceof NotNow) return undefined;
    throw error;
  }
}

async function store(
  trx: Trx,
  ports: BitcoinPorts,
  lease: Lease,
  { payouts, spend, changeIndex, finalHeightWhenSigned, minConfirmations }: BatchOrder,
  signed: SignedSpend,
): Promise<Transaction> {
  const { chain, sender } = ports;
  await assertLease(trx, lease);
  await insertWalletOnce(trx, chain, sender.hotAddress, 'hot', null);
  for (const { id } of payouts) {
    if ((await movePayout(trx, id, ['reserved'], 'signed')) === undefined) throw new NotNow();
  }
  const isMerge = payouts.length === 0;
  const transaction = await insertSigned(trx, {
    after: undefined,
    chain,
    wallet: sender.hotAddress,
    nonce: null,
    sweptAddress: isMerge ? sender.address('change', changeIndex) : null,
    asset: 'BTC',
    amount: isMerge ? (spend.change?.amount ?? units(0n)) : sum(payouts.map(({ amount }) => amount)),
    signed,
    minConfirmations,
    fence: lease.token,
    finalHeightWhenSigned,
    validToHeight: null,
    terms: writeBitcoinTerms(spend, changeIndex, signed),
  });
  if (!(await lockUtxos(trx, spend.utxos, transaction.group))) throw new NotNow();
  await storeChange(trx, ports, transaction, spend, signed.changeOutput);
  const paid = payouts.map(({ id: payoutId, address, amount }, outputIndex) => {
    return { payoutId, address, amount, outputIndex };
  });
  if (!isMerge) await insertPayments(trx, transaction.group, paid);
  failpoint(`bitcoin.${transaction.purpose}s.signing`);
  return transaction;
}

/** Stores the change. It can be spent once a block includes it. */
export async function storeChange(
  trx: Trx,
  { chain, sender }: BitcoinPorts,
  { group, txHash }: Transaction,
  { change }: Spend,
  output: number | null,
): Promise<void> {
  if (change === null || output === null) return;
  const { index, amount } = change;
  const utxo = { outpoint: `${txHash}:${output}`, index, address: sender.address('change', index), amount };
  await insertChangeUtxo(trx, chain, group, utxo);
}
