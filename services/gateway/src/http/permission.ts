import { type Answer, answers } from '@quittance/shared/http-answers';
import { invariant } from '@quittance/shared/result';
import { roleAllows } from '../domain/person-operations.ts';
import type { Route } from '../domain/routes.ts';
import { ANY_TOKEN, holds, scopeNeeded } from '../domain/scopes.ts';
import type { Caller } from '../operations/caller.ts';

/** The answer to a caller who may not do this: whose token has not the scope, or whose role not the right. Undefined when it may. */
export function refusedOperation(
  caller: Caller,
  method: string,
  { auth, pattern }: Pick<Route, 'auth' | 'pattern'>,
): Answer | undefined {
  if (auth === 'session') {
    invariant(caller.tokenId === undefined, 'what only people can do no token opens');
    const { role } = caller.session;
    return roleAllows(role, method, pattern) ? undefined : answers.missingRole(role);
  }
  if (auth === 'operator') {
    invariant(caller.tokenId === undefined, 'what only operators can do no token opens');
    return caller.session.isOperator ? undefined : answers.operatorsOnly;
  }
  const needed = scopeNeeded(method, pattern);
  invariant(needed !== undefined, `${method} ${pattern} has a scope`);
  if (needed === ANY_TOKEN || holds(caller.scopes, needed)) return undefined;
  return caller.tokenId === undefined
    ? answers.missingRole(caller.session.role)
    : answers.missingScope(needed);
}
