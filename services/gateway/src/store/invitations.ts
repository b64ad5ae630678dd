import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, InvitationId } from '@quittance/shared/ids';
import type { Role } from '../domain/roles.ts';

/** Somebody may become one of an account, or, without an account, set a new password. */
export type Invitation = {
  id: InvitationId;
  email: string;
  accountId: AccountId | null;
  accountName: string | null;
  role: Role | null;
  createdAt: Date;
  expiresAt: Date;
};

const columns = 'i.id, i.email, i.account_id, a.name as account_name, i.role, i.created_at, i.expires_at';
const open = 'i.used_at is null and i.expires_at > now()';

const insertSql = statement(
  'invitation_insert',
  `insert into invitations (id, token_hash, email, account_id, role, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)`,
);

export async function insertInvitation(
  trx: Trx,
  invitation: Omit<Invitation, 'accountName'>,
  hash: Buffer,
): Promise<void> {
  const { id, email, accountId, role, createdAt, expiresAt } = invitation;
  await trx.rows(insertSql, [id, hash, email, accountId, role, createdAt, expiresAt]);
}

const selectByHash = query<Invitation>(
  'invitation_by_hash',
  `select ${columns} from invitations i left join accounts a on a.id = i.account_id where i.token_hash = $1 and ${open}`,
);

/** One that can be used now. */
export const invitationOf = (db: Queryable, hash: Buffer): Promise<Invitation | undefined> =>
  db.maybe(selectByHash, [hash]);

const useSql = statement(
  'invitation_use',
  'update invitations i set used_at = now() where id = $1 and used_at is null and expires_at > now() returning 1',
);

/** Once: false when it was used before, or has expired. Others who use it wait until the transaction ends. */
export const useInvitation = async (trx: Trx, id: InvitationId): Promise<boolean> =>
  (await trx.rows(useSql, [id])).length === 1;

const withdrawSql = statement(
  'invitations_withdraw',
  `update invitations set used_at = now() where email = $1 and account_id is not distinct from $2 and used_at is null`,
);

/** A new one takes the place of those before it. */
export async function withdrawInvitations(trx: Trx, email: string, account: AccountId | null): Promise<void> {
  await trx.rows(withdrawSql, [email, account]);
}

const selectOpen = query<Invitation>(
  'invitations_of_account',
  `select ${columns} from invitations i join accounts a on a.id = i.account_id
   where i.account_id = $1 and ${open} order by i.created_at desc, i.id desc`,
);

/** Those of an account that can still be used. */
export const openInvitations = (db: Queryable, account: AccountId): Promise<Invitation[]> =>
  db.rows(selectOpen, [account]);
