import { chainKinds } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import type { HandlersOf } from '@quittance/shared/process-messages';
import { noteHalt, noteResume } from './store/halts.ts';
import {
  depositOf,
  insertDepositsOnce,
  markDepositsReversed,
  type SettledDeposit,
} from './store/unswept-deposits.ts';
import { insertDepositUtxos, reverseDepositUtxos } from './store/utxos.ts';

/** What payouts does with events: which deposits can be spent, and for which assets nothing may be signed. */
export const handlers: HandlersOf<'payouts', unknown> = {
  'deposit.settled': recordDeposits,
  'deposit.reversed': reverseDeposits,
  async 'asset.halted'(trx, events) {
    for (const { payload } of events) await noteHalt(trx, payload);
  },
  async 'asset.resumed'(trx, events) {
    for (const { payload } of events) await noteResume(trx, payload);
  },
};

/** Records settled deposits. Payouts may be paid from them from now on. */
export async function recordDeposits(
  trx: Trx,
  events: readonly Pick<EventOf<'deposit.settled'>, 'payload'>[],
): Promise<void> {
  const deposits = events.map(({ payload }) => depositOf(payload));
  await insertDepositsOnce(trx, deposits);
  const onBitcoin = deposits.filter(isUtxo);
  if (onBitcoin.length > 0) await insertDepositUtxos(trx, onBitcoin);
}

/** Records that settled deposits were dropped. A reversal may arrive before its deposit, which then never counts. */
export async function reverseDeposits(
  trx: Trx,
  events: readonly Pick<EventOf<'deposit.reversed'>, 'payload'>[],
): Promise<void> {
  const deposits = events.map(({ payload }) => depositOf(payload));
  const ids = deposits.map(({ depositId }) => depositId);
  await insertDepositsOnce(trx, deposits);
  await markDepositsReversed(trx, ids);
  const onBitcoin = deposits.filter(isUtxo);
  if (onBitcoin.length === 0) return;
  await insertDepositUtxos(trx, onBitcoin);
  await reverseDepositUtxos(trx, ids);
}

const isUtxo = ({ chain }: SettledDeposit): boolean => chainKinds[chain] === 'bitcoin';
