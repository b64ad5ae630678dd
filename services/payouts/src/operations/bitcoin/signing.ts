import type { Spend } from '@quittance/chains/bitcoin/spend';
import type { Trx } from '@quittance/shared/db';
import type { Lease } from '@quittance/shared/lease';
import { sum, units } from '@quittance/shared/money';
import type { BitcoinPorts } from '../../ports.ts';
import type { Payout } from '../../store/payouts.ts';
import type { PlannedTransaction } from '../../store/signing-plans.ts';
import type { Transaction } from '../../store/transactions.ts';
import { stillSpendable } from '../../store/utxos.ts';
import { signPlanned } from '../sign-planned.ts';

type BatchOrder = {
  /** In the order of the outputs. Empty for a merge of UTXOs. */
  payouts: readonly Payout[];
  spend: Spend;
  changeIndex: number;
  finalHeightWhenSigned: number;
  minConfirmations: number;
};

/** Has one transaction signed for these payouts, or a merge. Undefined when the signer does not, or the plan is out of date. */
export async function signBatch(
  ports: BitcoinPorts,
  lease: Lease,
  { payouts, spend, changeIndex, finalHeightWhenSigned, minConfirmations }: BatchOrder,
): Promise<Transaction | undefined> {
  const { hotAddress } = ports.sender;
  const isMerge = payouts.length === 0;
  const planned: PlannedTransaction<'bitcoin'> = {
    order: { is: 'spend', hot: hotAddress, ...spend },
    after: null,
    wallet: hotAddress,
    nonce: null,
    asset: 'BTC',
    amount: isMerge ? (spend.change?.amount ?? units(0n)) : sum(payouts.map(({ amount }) => amount)),
    minConfirmations,
    finalHeightWhenSigned,
    validToHeight: null,
    terms: null,
    payments: payouts.map(({ id: payoutId, address, amount }, outputIndex) => {
      return { payoutId, address, amount, outputIndex };
    }),
    swept: null,
    changeIndex,
  };
  const stillRight = (trx: Trx) => areSpendable(trx, ports, spend.utxos);
  const [signed] = await signPlanned(ports, lease, [planned], stillRight);
  return signed;
}

/** Whether all of these UTXOs may be spent by a new transaction. */
export const areSpendable = async (
  trx: Trx,
  { chain }: Pick<BitcoinPorts, 'chain'>,
  utxos: Spend['utxos'],
): Promise<boolean> => (await stillSpendable(trx, chain, utxos)).size === utxos.length;
