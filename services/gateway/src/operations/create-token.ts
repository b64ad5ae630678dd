import { hash, randomBytes } from 'node:crypto';
import { newTokenId, type TokenId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { readName } from '../domain/name.ts';
import { hintOf, makeToken } from '../domain/token.ts';
import type { Ports } from '../ports.ts';
import { accountBy, insertToken } from '../store/tokens.ts';

export type TokenRefusal = 'name_invalid' | 'no_such_account' | 'expires_in_the_past';

export type CreatedToken = {
  id: TokenId;
  /** The token itself. It is stored nowhere: this is the only time it can be seen. */
  token: string;
  accountId: string;
  accountName: string;
  name: string;
  hint: string;
  createdAt: Date;
  expiresAt: Date | null;
};

export type TokenOrder = {
  /** Its id or its name. */
  account: string;
  name: string;
  /** Null: it is good until it is revoked. */
  expiresAt: Date | null;
  /** Who does this, for the audit log. */
  actor: string;
};

/** Makes an API token for an account. */
export async function createToken(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  order: TokenOrder,
): Promise<Result<CreatedToken, TokenRefusal>> {
  const name = readName(order.name);
  if (name === undefined) return refuse('name_invalid');
  const now = clock.now();
  if (order.expiresAt !== null && order.expiresAt <= now) return refuse('expires_in_the_past');
  const account = await accountBy(db, order.account);
  if (account === undefined) return refuse('no_such_account');

  const token = makeToken(randomBytes);
  const row = {
    id: newTokenId(now),
    accountId: account.id,
    name,
    hint: hintOf(token),
    createdAt: now,
    expiresAt: order.expiresAt,
  };
  await insertToken(db, { ...row, hash: hash('sha256', token, 'buffer') }, order.actor);
  return ok({ ...row, accountName: account.name, token });
}
