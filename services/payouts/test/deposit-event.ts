import { newDepositId } from '@quittance/shared/ids';
import type { recordDeposits } from '../src/handlers.ts';

export type DepositPayload = Parameters<typeof recordDeposits>[1][number]['payload'];

/** What invoices publishes about a settled deposit. */
export const aDeposit = ({
  amount,
  index,
  ...given
}: Pick<DepositPayload, 'account_id' | 'asset' | 'address' | 'outpoint'> &
  Partial<Pick<DepositPayload, 'disposition'>> & { amount: bigint; index: number }): DepositPayload => ({
  deposit_id: newDepositId(new Date()),
  invoice_id: 'inv_test',
  amount: amount.toString(),
  derivation_index: index,
  tx_hash: given.outpoint.split(':')[0] ?? null,
  block_height: 1,
  block_hash: 'block',
  disposition: 'credit',
  ...given,
});
