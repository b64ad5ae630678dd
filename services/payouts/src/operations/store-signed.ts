import type { Signature } from '@quittance/chains/signing';
import type { Trx } from '@quittance/shared/db';
import type { Lease } from '@quittance/shared/lease';
import { invariant } from '@quittance/shared/result';
import { transactionPhases } from '../domain/states.ts';
import type { ChainPorts } from '../ports.ts';
import { movePayout } from '../store/payouts.ts';
import { insertPayments, isNewest } from '../store/replacement-groups.ts';
import type { PlannedTransaction } from '../store/signing-plans.ts';
import { insertSigned, moveTransaction, type Transaction } from '../store/transactions.ts';
import { assignSweep } from '../store/unswept-deposits.ts';
import { insertChangeUtxo, lockUtxos } from '../store/utxos.ts';
import { insertWalletOnce, passNonce } from '../store/wallets.ts';
import { writeBitcoinTerms } from './bitcoin/terms.ts';

/**
 * Stores the bytes of a planned transaction, with its nonce, its payouts and what it spends. A signature exists, so nothing
 * that has changed since the plan may stop it: a deposit that was reversed, a cancellation that came too late. Undefined when
 * its group has ended before this attempt: an attempt conflicts with the one that ended it, and can never be mined.
 */
export async function storeSigned(
  trx: Trx,
  ports: ChainPorts,
  lease: Lease,
  planned: PlannedTransaction,
  signature: Signature,
): Promise<Transaction | undefined> {
  const { chain, sender } = ports;
  const { after, payments, swept, wallet, nonce } = planned;
  if (after !== null && !(await mayFollow(trx, ports, after))) return undefined;
  if (nonce === null) {
    await insertWalletOnce(trx, chain, sender.hotAddress, 'hot', null);
    if (wallet !== sender.hotAddress) await insertWalletOnce(trx, chain, wallet, 'deposit', null);
  } else if (after === null) await passNonce(trx, chain, wallet, nonce);
  for (const { payoutId } of after === null ? payments : []) {
    const moved = await movePayout(trx, payoutId, ['planned'], 'signed');
    invariant(moved !== undefined, `payout ${payoutId} stays planned until it is signed`);
  }
  const { order, ...row } = planned;
  const isSweep = payments.length === 0;
  const transaction = await insertSigned(trx, {
    ...row,
    after: after ?? undefined,
    chain,
    signed: signature,
    fence: lease.token,
    sweptAddress: isSweep
      ? (swept?.address ?? signature.bitcoin?.change?.address ?? sender.hotAddress)
      : null,
    ...(order.is === 'spend' && { terms: bitcoinTerms(planned, signature) }),
  });
  if (order.is === 'spend') await storeSpend(trx, ports, transaction, planned, signature);
  if (after === null && !isSweep) await insertPayments(trx, transaction.group, payments);
  if (after === null && swept !== null) await assignSweep(trx, swept.depositIds, transaction.group);
  return transaction;
}

/** Whether an attempt may be stored after that one. On Solana it ends it: two that do not conflict are never valid at once. */
async function mayFollow(
  trx: Trx,
  { kind }: Pick<ChainPorts, 'kind'>,
  after: NonNullable<PlannedTransaction['after']>,
): Promise<boolean> {
  if (kind === 'solana') {
    const ended = await moveTransaction(trx, after.id, transactionPhases.open, 'invalidated');
    invariant(ended !== undefined, `transaction ${after.id} is proved dead, and nothing else ends it`);
    return true;
  }
  return await isNewest(trx, after);
}

function bitcoinTerms({ order, changeIndex }: PlannedTransaction, { bitcoin }: Signature) {
  invariant(order.is === 'spend' && bitcoin !== undefined && changeIndex !== null, 'a spend is of Bitcoin');
  return writeBitcoinTerms(order, changeIndex, bitcoin);
}

/** Locks what a transaction on Bitcoin spends, and stores its change, which can be spent once a block includes it. */
async function storeSpend(
  trx: Trx,
  { chain }: Pick<ChainPorts, 'chain'>,
  { group, txHash }: Transaction,
  { order }: PlannedTransaction,
  { bitcoin }: Signature,
): Promise<void> {
  invariant(order.is === 'spend' && bitcoin !== undefined, 'a spend is of Bitcoin');
  await lockUtxos(trx, order.utxos, group);
  if (bitcoin.change === null || order.change === null) return;
  const { output, address } = bitcoin.change;
  const { index, amount } = order.change;
  await insertChangeUtxo(trx, chain, group, { outpoint: `${txHash}:${output}`, index, address, amount });
}
