import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { errorCodes } from '@quittance/shared/error-codes';
import { makeToken } from '../src/domain/token.ts';
import { bytesOf, newToken, openGateways, sendRaw } from './gateway-fixture.ts';

/** What the gateway says beside the messages of the contract: why a token is refused, and what each error means. */

const { url, upstream, startForAll } = await openGateways();
const gateway = await startForAll();

const ask = (path: string, headers: readonly string[] = [], method = 'GET') =>
  sendRaw(gateway.port, bytesOf(method, path, headers, ''));

describe('the header WWW-Authenticate of a 401', () => {
  const challenge = async (...headers: string[]) =>
    (await ask('/api/assets', headers)).headers.get('www-authenticate');

  test('names only the scheme when there is no token', async () => {
    expect(await challenge()).toBe('Bearer realm="quittance"');
  });

  test.each(['Bearer', 'Basic dXNlcjpwYXNz', 'Bearer qt_x', 'Bearer a.b.c'])(
    'says that "%s" has not the form of a token',
    async (given) => {
      expect(await challenge(`Authorization: ${given}`)).toContain(
        'error="invalid_token", error_description="The header must be',
      );
    },
  );

  test('is the same for a revoked, an expired and an unknown token', async () => {
    const [revoked, expired] = [await newToken(url), await newToken(url)];
    const { db } = gateway.ports;
    await db.rows('update tokens set revoked_at = now() where id = $1', [revoked.id]);
    await db.rows(`update tokens set expires_at = now() - interval '1 second' where id = $1`, [expired.id]);
    const unknown = makeToken(randomBytes);
    const told =
      'Bearer realm="quittance", error="invalid_token", error_description="The API token is unknown, revoked or expired: use another one"';
    expect(await challenge(`Authorization: Bearer ${revoked.token}`)).toBe(told);
    expect(await challenge(`Authorization: Bearer ${expired.token}`)).toBe(told);
    expect(await challenge(`Authorization: Bearer ${unknown}`)).toBe(told);
  });
});

test('a 401 keeps its body, and is a problem for a client that accepts one', async () => {
  expect((await ask('/api/assets')).body).toEqual({ message: 'Unauthenticated.' });
  const problem = await fetch(`http://127.0.0.1:${gateway.port}/api/assets`, {
    headers: { accept: 'application/problem+json' },
  });
  expect(problem.headers.get('content-type')).toBe('application/problem+json');
  expect(await problem.json()).toMatchObject({
    title: 'Unauthenticated.',
    status: 401,
    code: 'unauthenticated',
  });
});

describe('/docs/errors', () => {
  test('has every code as an anchor, needs no token, asks no service, may run no script and load nothing', async () => {
    const { status, headers, text } = await ask('/docs/errors');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const code of Object.keys(errorCodes)) expect(text).toContain(`id="${code}"`);
    expect(upstream.asked).toEqual([]);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).not.toMatch(/<script|src=/);
  });

  test('can only be read', async () => {
    const answer = await ask('/docs/errors', [], 'POST');
    expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect((await ask('/docs/errors', [], 'HEAD')).status).toBe(200);
  });
});
