import type { PayloadOf } from '@quittance/shared/events';
import { newDepositId, newEventId } from '@quittance/shared/ids';

/** An event as NATS delivers it, with an id of its own. */
export const anEventOf = <K extends string, P>(kind: K, payload: P, at = new Date()) => ({
  id: newEventId(new Date()),
  kind,
  created_at: at.toISOString(),
  request_id: null,
  payload,
});

/** What invoices publishes about a settled deposit, in Ether where nothing else is given. */
export function aSettledDeposit(
  given: Partial<PayloadOf<'deposit.settled'>> &
    Pick<PayloadOf<'deposit.settled'>, 'account_id' | 'amount' | 'outpoint'>,
): PayloadOf<'deposit.settled'> {
  return {
    deposit_id: newDepositId(new Date()),
    invoice_id: 'inv_1',
    asset: 'ETH',
    address: '0x0000000000000000000000000000000000000001',
    derivation_index: 1,
    tx_hash: null,
    block_height: 1,
    block_hash: '0x01',
    disposition: 'credit',
    ...given,
  };
}
