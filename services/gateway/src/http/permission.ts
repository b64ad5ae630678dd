import { type Answer, answers } from '@quittance/shared/http-answers';
import { invariant } from '@quittance/shared/result';
import { ANY_TOKEN, holds, scopeNeeded } from '../domain/scopes.ts';
import type { Caller } from '../store/tokens.ts';

/** The answer to a caller whose token has not the scope of the operation; undefined when it has it. */
export function refusedScope(caller: Caller, method: string, pattern: string): Answer | undefined {
  const needed = scopeNeeded(method, pattern);
  invariant(needed !== undefined, `${method} ${pattern} has a scope`);
  return needed === ANY_TOKEN || holds(caller.scopes, needed) ? undefined : answers.missingScope(needed);
}
