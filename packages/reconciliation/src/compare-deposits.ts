import pMap from 'p-map';
import type { ChainDiscrepancy } from './chain-invariants.ts';
import type { ChainObserver, ObservedPayments } from './chain-observer.ts';
import type { ChainRecords, DepositRow } from './chain-records.ts';
import { OBSERVED_AT_ONCE } from './observe-transactions.ts';

/**
 * I5. Each transaction that is said to have paid deposits is asked for once. A node shows native money that a contract
 * sent only when it traces the transaction: of such a deposit only the block must be in the chain, and the sum of all
 * reserves (I6) shows whether the money is there. Transactions that the node has pruned, and tokens that are not in the
 * settings, are not compared.
 */
export async function compareDeposits(
  { deposits }: ChainRecords,
  observer: ChainObserver,
): Promise<ChainDiscrepancy[]> {
  const discrepancies: ChainDiscrepancy[] = [];
  const paid = deposits.filter(({ by_balance, asset }) => !by_balance && observer.assets.has(asset));
  await pMap(
    Map.groupBy(paid, ({ tx_hash }) => tx_hash),
    async ([hash, all]) => {
      const height = Math.max(...all.map(({ block_height }) => block_height));
      const payments = hash === null ? 'not in the chain' : await observer.payments(hash, height);
      if (payments !== 'not kept') discrepancies.push(...comparePayments(all, payments));
    },
    { concurrency: OBSERVED_AT_ONCE },
  );
  const sentByContracts = deposits.filter(({ by_balance, is_settled }) => by_balance && is_settled);
  await pMap(
    sentByContracts,
    async (deposit) => {
      const { amount, block_height, block_hash } = deposit;
      if ((await observer.hashAt(block_height)) !== block_hash)
        discrepancies.push(
          depositDiscrepancy(deposit, `its block ${block_hash} is not in the chain`, BigInt(amount)),
        );
    },
    { concurrency: OBSERVED_AT_ONCE },
  );
  return discrepancies;
}

/** Of one transaction. Payments to one address cannot be told apart: their sum must be right, with unsettled ones. */
function comparePayments(
  deposits: readonly DepositRow[],
  payments: Exclude<ObservedPayments, 'not kept'>,
): ChainDiscrepancy[] {
  const alike = Map.groupBy(deposits, ({ asset, address }) => `${asset} ${address}`);
  return [...alike.values()].flatMap((all): ChainDiscrepancy[] => {
    const deposit = all.find(({ is_settled }) => is_settled);
    if (deposit === undefined) return [];
    const { asset, address, tx_hash } = deposit;
    const booked = all.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    if (payments === 'not in the chain')
      return [depositDiscrepancy(deposit, `its transaction ${tx_hash} is not in the chain`, booked)];
    const paid = payments
      .filter((one) => one.asset === asset && one.address === address)
      .reduce((sum, { amount }) => sum + amount, 0n);
    if (paid === booked) return [];
    const what = `${tx_hash} pays ${paid} ${asset} to ${address}, not ${booked}`;
    return [depositDiscrepancy(deposit, what, booked - paid)];
  });
}

const depositDiscrepancy = ({ id, asset }: DepositRow, what: string, amount: bigint): ChainDiscrepancy => ({
  invariant: 'I5',
  what: `deposit ${id} is settled: ${what}`,
  asset,
  subject: `deposit ${id} chain`,
  amount,
});
