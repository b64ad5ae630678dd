import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { routes } from '../src/domain/routes.ts';
import { ANY_TOKEN, holds, type Scope, scopeNames, scopeOfOperation, scopes } from '../src/domain/scopes.ts';
import { bytesOf, newToken, openGateways, sendRaw } from './gateway-fixture.ts';

/** Each operation of the API with a token that has its scope, with one that has all others, and with older tokens. */

const { url, upstream, startForAll } = await openGateways();
const gateway = await startForAll();

type Documented = { security?: { token?: string[]; session?: string[] }[] };
const { paths } = JSON.parse(readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Documented>>;
};
/** Of the reference, each as in the table, with its scopes; undefined of what needs no token, or a session. */
const documented = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { security }]) => ({
    operation: `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
    needed:
      security?.length === 0 || security?.[0]?.session !== undefined
        ? undefined
        : (security?.[0]?.token ?? 'none is named'),
  })),
);

const operations = Object.entries(scopeOfOperation) as [string, Scope | typeof ANY_TOKEN][];
const ID = `tok_${'0'.repeat(36)}`;

const ask = (token: string, operation: string) => {
  const [method = '', pattern = ''] = operation.split(' ');
  const path = pattern.replace(/:\w+/g, ID);
  const body = method === 'GET' || method === 'DELETE' ? '' : '{}';
  return sendRaw(gateway.port, bytesOf(method, path, [`Authorization: Bearer ${token}`], body));
};

/** What comes after the scope was checked: the service behind it, or of tokens the gateway itself. */
const isThrough = (operation: string, status: number): boolean =>
  operation.includes('/api/tokens') ? [200, 404, 422].includes(status) : status === 200;

test('each operation of the reference that needs a token has a scope, and the reference names it', () => {
  const named = new Map(documented.map(({ operation, needed }) => [operation, needed]));
  const expected = operations.map(([operation, needed]) => [operation, needed === ANY_TOKEN ? [] : [needed]]);
  expect(Object.fromEntries(expected)).toEqual(
    Object.fromEntries([...named].filter(([, needed]) => needed !== undefined)),
  );
});

test('each route that needs a token has a scope for each of its methods', () => {
  const reached = routes
    .filter(({ auth }) => auth === 'token')
    .flatMap(({ methods, pattern }) => methods.map((method) => `${method} ${pattern}`));
  expect(reached.sort()).toEqual(Object.keys(scopeOfOperation).sort());
});

test('each scope is needed by an operation, and what only reads never needs more than to read', () => {
  expect(new Set(Object.values(scopeOfOperation))).toEqual(new Set([...scopeNames, ANY_TOKEN]));
  const wrong = operations.filter(
    ([operation, needed]) =>
      needed !== ANY_TOKEN && operation.startsWith('GET ') !== needed.endsWith(':read'),
  );
  expect(wrong).toEqual([]);
});

describe('a token', () => {
  test.each(operations)('%s: needs %s', async (operation, needed) => {
    const right = await newToken(
      url,
      needed === ANY_TOKEN ? { scopes: ['events:read'] } : { scopes: [needed] },
    );
    const answered = await ask(right.token, operation);
    expect([answered.status, isThrough(operation, answered.status)]).toEqual([answered.status, true]);
    if (needed === ANY_TOKEN) return;

    const others = scopeNames.filter((one) => !holds([one], needed));
    const wrong = await newToken(url, { account: right.account, scopes: others });
    upstream.asked.length = 0;
    const refused = await ask(wrong.token, operation);
    expect(refused).toMatchObject({
      status: 403,
      body: { message: `The API token has not the scope ${needed}.`, code: 'missing_scope' },
    });
    expect(refused.headers.get('x-error-code')).toBe('missing_scope');
    expect(refused.headers.get('www-authenticate')).toContain(
      `error="insufficient_scope", scope="${needed}"`,
    );
    expect(refused.headers.has('x-ratelimit-remaining')).toBe(true);
    expect(upstream.asked).toEqual([]);
  });

  test.each(operations.filter(([, needed]) => needed.endsWith(':read')))(
    '%s: to write includes %s',
    async (operation, needed) => {
      const write = needed.replace(':read', ':write');
      if (!(write in scopes)) return;
      const { token } = await newToken(url, { scopes: [write as Scope] });
      const { status } = await ask(token, operation);
      expect([status, isThrough(operation, status)]).toEqual([status, true]);
    },
  );

  test('without named scopes may do everything, as may one from before there were scopes', async () => {
    const { token, id } = await newToken(url);
    for (const [operation] of operations) {
      const { status } = await ask(token, operation);
      expect([operation, isThrough(operation, status)]).toEqual([operation, true]);
    }
    const { scopes: stored } = await gateway.ports.db.one('select scopes from tokens where id = $1', [id]);
    expect(stored).toBeNull();
  });

  test('needs for HEAD what it needs for GET', async () => {
    const { token } = await newToken(url, { scopes: ['payouts:write'] });
    expect((await ask(token, 'HEAD /api/payouts')).status).toBe(200);
    expect((await ask(token, 'HEAD /api/balances')).status).toBe(403);
  });

  test('gets by a scope nothing of another account', async () => {
    const [one, other] = [await newToken(url, { scopes: ['tokens:write'] }), await newToken(url)];
    for (const method of ['GET', 'DELETE']) {
      const refused = await sendRaw(
        gateway.port,
        bytesOf(method, `/api/tokens/${other.id}`, [`Authorization: Bearer ${one.token}`]),
      );
      expect([method, refused.status, refused.text]).toEqual([
        method,
        403,
        '{"message":"This action is unauthorized."}',
      ]);
    }
    expect((await ask(other.token, 'GET /api/assets')).status).toBe(200);
  });
});
