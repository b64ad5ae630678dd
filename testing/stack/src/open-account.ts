import { createAccount, createToken } from '@quittance/gateway/operations/accounts';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';

/** A new merchant with one token, by the operations that the operator's command uses. */
export async function openAccount(
  ports: { db: Db; clock: Clock },
  name: string,
  actor: string,
): Promise<{ id: string; token: string }> {
  const account = await createAccount(ports, { name, actor });
  if (!account.ok) throw new Error(`the account ${name} was refused: ${account.refusal}`);
  const order = { account: account.value.id, name: actor, expiresAt: null, actor };
  const token = await createToken(ports, order);
  if (!token.ok) throw new Error(`a token for ${name} was refused: ${token.refusal}`);
  return { id: account.value.id, token: token.value.token };
}
