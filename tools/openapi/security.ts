import type { Operation } from '@quittance/shared/reference';
import { ANY_TOKEN, type Scope, scopeNeeded } from '../../services/gateway/src/domain/scopes.ts';
import { SESSION_COOKIE } from '../../services/gateway/src/domain/session.ts';

/** Who may call an operation: with a token that has a scope, or a person with a session. */

export const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API token. A requirement names its scope.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The session of a person who has signed in. With it everything is allowed that the role allows.',
  },
} as const;

/** Undefined where no token is needed. */
export function scopeOf({ method, path, auth }: Operation): Scope | typeof ANY_TOKEN | undefined {
  if (auth !== undefined) return undefined;
  const needed = scopeNeeded(method.toUpperCase(), path.replace(/\{(\w+)\}/g, ':$1'));
  if (needed === undefined)
    throw new Error(`${method} ${path} has no scope in services/gateway/src/domain/scopes.ts`);
  return needed;
}

/** OpenAPI 3.1 lets a requirement name scopes for bearer tokens too; not every reader shows them, so the text does. */
export function scopeParts(
  needed: Scope | typeof ANY_TOKEN | undefined,
  { description, auth }: Pick<Operation, 'description' | 'auth'>,
) {
  const isNamed = needed !== undefined && needed !== ANY_TOKEN;
  const text = [description, isNamed ? `Needs the scope \`${needed}\`.` : undefined].filter(
    (one) => one !== undefined,
  );
  return {
    ...(text.length > 0 && { description: text.join(' ') }),
    security: securityOf(needed, auth),
  };
}

function securityOf(needed: Scope | typeof ANY_TOKEN | undefined, auth: Operation['auth']) {
  if (auth === 'session') return [{ session: [] }];
  return needed === undefined ? [] : [{ token: needed === ANY_TOKEN ? [] : [needed] }];
}
