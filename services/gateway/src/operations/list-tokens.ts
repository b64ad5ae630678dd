import { ok, type Result, refuse } from '@quittance/shared/result';
import { type TokenState, tokenState } from '../domain/token-state.ts';
import type { Ports } from '../ports.ts';
import { accountBy, type Token, tokensOf } from '../store/tokens.ts';

export type ListedToken = Token & { state: TokenState };

/** The tokens of one account, called by id or name, or of all; whether or not they are still let in. */
export async function listTokens(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  account: string | undefined,
): Promise<Result<ListedToken[], 'no_such_account'>> {
  const of = account === undefined ? null : await accountBy(db, account);
  if (of === undefined) return refuse('no_such_account');
  const tokens = await tokensOf(db, of?.id ?? null);
  const now = clock.now();
  return ok(tokens.map((token) => ({ ...token, state: tokenState(token, now) })));
}
