import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement } from '@quittance/shared/db';
import type { AccountId, PayoutAddressId } from '@quittance/shared/ids';
import { listPage, type Place } from '@quittance/shared/pages';

/** An entry of an account's address book. */
export type PayoutAddress = {
  id: PayoutAddressId;
  account: AccountId;
  chain: Chain;
  /** Canonical. */
  address: string;
  label: string;
  createdAt: Date;
  usableAt: Date;
};

export const ADDRESSES_MAX = 1_000;

const columns = (of: string) =>
  ['id', 'account_id as account', 'chain', 'address', 'label', 'created_at', 'usable_at']
    .map((column) => `${of}.${column}`)
    .join(', ');

// An address that is there keeps its time: giving it again neither delays it nor lets it through earlier.
const put = query<PayoutAddress & { isNew: boolean }>(
  'payout_addresses_put',
  `insert into payout_addresses (id, account_id, chain, address, label, usable_at)
   select $1, $2, $3, $4, $5, $6
   where exists (select from payout_addresses where account_id = $2 and chain = $3 and address = $4)
     or (select count(*) from payout_addresses where account_id = $2) < $7
   on conflict (account_id, chain, address) do update set label = excluded.label
   returning ${columns('payout_addresses')}, xmax = 0 as is_new`,
);

/** Stores an address, or another label of one that is there. Undefined when the address book is full. */
export const putAddress = (
  db: Queryable,
  { id, account, chain, address, label, usableAt }: Omit<PayoutAddress, 'createdAt'>,
): Promise<(PayoutAddress & { isNew: boolean }) | undefined> =>
  db.maybe(put, [id, account, chain, address, label, usableAt, ADDRESSES_MAX]);

export const addressPage = (db: Queryable, account: AccountId, place: Place) =>
  listPage<PayoutAddress>(
    db,
    {
      table: 'payout_addresses',
      key: 'id',
      columns: columns('payout_addresses'),
      newestFirst: ['created_at', 'payout_addresses.id'],
      where: { account_id: account },
    },
    place,
  );

const selectOne = query<PayoutAddress>(
  'payout_addresses_one',
  `select ${columns('payout_addresses')} from payout_addresses where id = $1`,
);

export const findAddress = (db: Queryable, id: string) => db.maybe(selectOne, [id]);

const remove = statement('payout_addresses_delete', 'delete from payout_addresses where id = $1');

export async function deleteAddress(db: Queryable, id: PayoutAddressId): Promise<void> {
  await db.rows(remove, [id]);
}

const selectUsable = query<Pick<PayoutAddress, 'chain' | 'address' | 'usableAt'>>(
  'payout_addresses_of',
  'select chain, address, usable_at from payout_addresses where account_id = $1 and address = any($2)',
);

/** The entries with these addresses, on any chain. */
export const entriesOf = (db: Queryable, account: AccountId, addresses: readonly string[]) =>
  db.rows(selectUsable, [account, addresses]);
