import type { SweepRemain } from '@quittance/reconciliation/reserve-records';
import { bulk, statement, type Trx } from '@quittance/shared/db';

const remains = bulk({ tx_hash: 'text', asset: 'text', amount: 'numeric' });
const insert = statement(
  'sweep_remains_insert',
  `insert into sweep_remains (tx_hash, asset, amount) select tx_hash, asset, amount from ${remains.from('found')}
   on conflict do nothing`,
);

/** Stores what sweeps have left at their addresses, each once. Sweeps of tokens leave nothing. */
export async function noteSweepRemains(trx: Trx, found: readonly SweepRemain[]): Promise<void> {
  const left = found.filter(({ amount }) => amount !== '0');
  if (left.length > 0) await trx.rows(insert, remains.values(left));
}
