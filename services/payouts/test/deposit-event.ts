import type { PayloadOf } from '@quittance/shared/events';
import { aSettledDeposit } from '@quittance/testkit/builders';

export type DepositPayload = PayloadOf<'deposit.settled'>;

/** What invoices publishes about a settled deposit. */
export const aDeposit = ({
  amount,
  index,
  ...given
}: Pick<DepositPayload, 'account_id' | 'asset' | 'address' | 'outpoint'> &
  Partial<Pick<DepositPayload, 'disposition'>> & { amount: bigint; index: number }): DepositPayload =>
  aSettledDeposit({
    invoice_id: 'inv_test',
    amount: amount.toString(),
    derivation_index: index,
    tx_hash: given.outpoint.split(':')[0] ?? null,
    ...given,
  });
