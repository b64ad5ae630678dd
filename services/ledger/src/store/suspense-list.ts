import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query, type Selection } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { listPage, type Place } from '@quittance/shared/pages';
import type { SuspenseState } from '../domain/suspense.ts';
import { type SuspenseItem, suspenseColumns } from './suspense.ts';

/** Null filters nothing. */
export type SuspenseFilter = {
  account: AccountId;
  state: SuspenseState | null;
  asset: AssetSymbol | null;
  invoice: string | null;
  txHash: string | null;
};

const selectAll = query<SuspenseItem>(
  '',
  `select ${suspenseColumns} from unresolved
   where account_id = $1 and ($2::text is null or state = $2) and ($3::text is null or asset = $3)
     and ($4::text is null or invoice_id = $4) and ($5::text is null or tx_hash = $5)
   order by created_at desc, deposit_id desc`,
);

/** All unresolved deposits that are wanted, newest first, for an export. */
export const allSuspense = ({
  account,
  state,
  asset,
  invoice,
  txHash,
}: SuspenseFilter): Selection<SuspenseItem> => ({
  rows: selectAll,
  values: [account, state, asset, invoice, txHash],
});

/** One page of an account's unresolved deposits, newest first, and the list's total. */
export const suspensePage = (
  db: Queryable,
  { account, state, asset, invoice, txHash }: SuspenseFilter,
  place: Place,
): Promise<{ items: SuspenseItem[]; total: number }> =>
  listPage<SuspenseItem>(
    db,
    {
      table: 'unresolved',
      key: 'deposit_id',
      columns: suspenseColumns,
      newestFirst: ['created_at', 'unresolved.deposit_id'],
      where: { account_id: account, state, asset, invoice_id: invoice, tx_hash: txHash },
    },
    place,
  );
