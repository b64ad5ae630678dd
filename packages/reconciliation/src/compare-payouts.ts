import { type Chain, nativeAsset } from '@quittance/shared/assets';
import type { ChainDiscrepancy } from './chain-invariants.ts';
import type { ChainRecords } from './chain-records.ts';
import type { TransactionsByHash } from './observe-transactions.ts';

/** I4: each payout against the transactions that are in the chain. */
export function comparePayouts(
  { payouts, transactions }: ChainRecords,
  observed: TransactionsByHash,
): ChainDiscrepancy[] {
  const replacementGroups = Map.groupBy(transactions, ({ group_id }) => group_id);
  const payoutsOf = Map.groupBy(payouts, ({ group_id }) => group_id);
  const confirmedOf = (group_id: string) =>
    (replacementGroups.get(group_id) ?? []).flatMap(({ tx_hash }) => {
      const found = observed.get(tx_hash);
      return found?.succeeded === true ? [{ hash: tx_hash, ...found }] : [];
    });
  const discrepancies: ChainDiscrepancy[] = [];
  const mayLeave = new Set(transactions.filter((one) => one.may_leave).map(({ group_id }) => group_id));
  for (const payout of payouts) {
    const { id, asset } = payout;
    const report = (what: string, amount?: bigint) =>
      discrepancies.push({
        invariant: 'I4',
        what,
        asset,
        subject: `payout ${id} chain`,
        ...(amount === undefined ? {} : { amount }),
      });
    const confirmed = confirmedOf(payout.group_id);
    const hashes = confirmed.map(({ hash }) => hash).join(', ');
    const [first] = confirmed;
    if (confirmed.length > 1)
      report(`payout ${payout.id} has ${confirmed.length} transactions in the chain: ${hashes}`);
    if (payout.status === 'failed' && first !== undefined)
      report(`payout ${payout.id} failed, and ${hashes} of it is in the chain`);
    if (payout.status !== 'mined') continue;
    if (first === undefined) {
      if (mayLeave.has(payout.group_id)) continue;
      report(`payout ${payout.id} is mined, and no transaction of it is in the chain`);
      continue;
    }
    // Payouts of one transaction to one address cannot be told apart there: their sum must be right.
    const alike = (payoutsOf.get(payout.group_id) ?? []).filter(
      ({ address, asset }) => address === payout.address && asset === payout.asset,
    );
    const wanted = alike.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    const paid = first.paid
      .filter(({ asset, address }) => asset === payout.asset && address === payout.address)
      .reduce((sum, { amount }) => sum + amount, 0n);
    if (paid !== wanted) {
      report(
        `payout ${payout.id}: ${first.hash} pays ${paid} ${payout.asset} to ${payout.address}, not ${wanted}`,
        paid - wanted,
      );
    }
  }
  return discrepancies;
}

/** I6: the fees that are booked against those that the chain shows. */
export function compareCosts(
  { transactions, costs }: ChainRecords,
  observed: TransactionsByHash,
  chain: Chain,
): ChainDiscrepancy[] {
  const discrepancies: ChainDiscrepancy[] = [];
  const report = (hash: string, what: string, amount?: bigint) =>
    discrepancies.push({
      invariant: 'I6',
      what,
      asset: nativeAsset[chain],
      subject: `cost ${hash}`,
      ...(amount === undefined ? {} : { amount }),
    });
  const mayLeave = new Set(transactions.filter((one) => one.may_leave).map(({ tx_hash }) => tx_hash));
  const booked = new Map(costs.map(({ tx_hash, amount }) => [tx_hash, BigInt(amount)]));
  for (const [hash, amount] of booked) {
    const found = observed.get(hash);
    if (found === undefined) {
      if (!mayLeave.has(hash))
        report(hash, `a cost of ${amount} is booked for ${hash}, which is not in the chain`, amount);
    } else if (found.cost !== amount)
      report(hash, `${hash} cost ${found.cost} in the chain, ${amount} is booked`, amount - found.cost);
  }
  for (const { tx_hash, cost_due } of transactions) {
    if (cost_due && !booked.has(tx_hash)) report(tx_hash, `what ${tx_hash} cost in the chain is not booked`);
  }
  return discrepancies;
}
