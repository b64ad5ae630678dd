import type { SignedSpend, Spend } from '@quittance/chains/bitcoin/spend';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { sum, units } from '@quittance/shared/money';
import type { BitcoinPorts } from '../../ports.ts';
import { insertPayments } from '../../store/payments.ts';
import { movePayout, type Payout } from '../../store/payouts.ts';
import type { Transaction } from '../../store/transaction-rows.ts';
import { insertSigned } from '../../store/transactions.ts';
import { insertChangeUtxo, lockUtxos, type StoredUtxo } from '../../store/utxos.ts';
import { insertWalletOnce } from '../../store/wallets.ts';
import { writeBitcoinTerms } from './terms.ts';

export type BatchOrder = {
  /** In the order of the outputs. Empty for a merge of UTXOs. */
  payouts: readonly Payout[];
  spend: Spend;
  changeIndex: number;
  finalHeight: number;
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
  ports: Pick<BitcoinPorts, 'db' | 'chain' | 'sender'>,
  lease: Lease,
  order: BatchOrder,
): Promise<Transaction | undefined> {
  // Before the database transaction: hundreds of signatures take time, and locks must not be held for them.
  const signed = ports.sender.signSpend(order.spend);
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
  { chain, sender }: Pick<BitcoinPorts, 'chain' | 'sender'>,
  lease: Lease,
  { payouts, spend, changeIndex, finalHeight, minConfirmations }: BatchOrder,
  signed: SignedSpend,
): Promise<Transaction> {
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
    finalHeight,
    validToHeight: null,
    terms: writeBitcoinTerms({
      utxos: spend.utxos,
      changeIndex,
      fee: signed.fee,
      virtualBytes: signed.virtualBytes,
    }),
  });
  const utxos = spend.utxos.map(
    (utxo): StoredUtxo => ({ ...utxo, address: sender.address(utxo.branch, utxo.index) }),
  );
  if (!(await lockUtxos(trx, utxos, transaction.group))) throw new NotNow();
  await storeChange(trx, { chain, sender }, transaction, spend, signed.changeOutput);
  if (!isMerge) {
    await insertPayments(
      trx,
      transaction.group,
      payouts.map(({ id, address, amount }, outputIndex) => ({ payoutId: id, address, amount, outputIndex })),
    );
  }
  failpoint(`bitcoin.${transaction.purpose}s.signing`);
  return transaction;
}

/** Stores the change. It can be spent once a block includes it. */
export async function storeChange(
  trx: Trx,
  { chain, sender }: Pick<BitcoinPorts, 'chain' | 'sender'>,
  { group, txHash }: Transaction,
  { change }: Spend,
  output: number | null,
): Promise<void> {
  if (change === null || output === null) return;
  const { index, amount } = change;
  const utxo = { outpoint: `${txHash}:${output}`, index, address: sender.address('change', index), amount };
  await insertChangeUtxo(trx, chain, group, utxo);
}
