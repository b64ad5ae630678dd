import { expect, test } from '@jest/globals';
import { Quittance } from './client.ts';

test('a client needs a url and a token', () => {
  const made = (wrong: object) => () => new Quittance({ url: 'https://x.example', token: 'qt_1', ...wrong });
  for (const url of ['pay.example.com', 'ftp://x', '', undefined])
    expect(made({ url })).toThrow('give { url, token }');
  expect(made({ url: 'https://me:pw@x.example' })).toThrow('url has a user name or a password');
  for (const token of ['', undefined]) expect(made({ token })).toThrow('give { url, token }');
});

/** The options of a page, and the headers of each request, which is answered so. */
function aPage(body: object, status = 200) {
  const asked: Headers[] = [];
  const fetched = async (_url: unknown, request?: RequestInit) => {
    asked.push(new Headers(request?.headers));
    return Response.json(body, { status });
  };
  return { asked, options: { url: 'https://pay.example', session: true, fetch: fetched } as const };
}

test('a client of a page sends no token, and refuses one beside the session', async () => {
  const { asked, options } = aPage({ id: 'per_1' });
  await new Quittance(options).me.retrieve();
  expect(asked[0]?.get('Authorization')).toBeNull();
  expect(() => new Quittance({ ...options, token: 'qt_1' })).toThrow('token and session are both given');
});

test('a client of one account names it in each request', async () => {
  const { asked, options } = aPage({ message: 'Other.', code: 'other_account' }, 409);
  const refused = new Quittance({ ...options, account: 'acc_1' }).me.retrieve();
  await expect(refused).rejects.toMatchObject({ name: 'ConflictError', code: 'other_account' });
  await expect(new Quittance(options).me.retrieve()).rejects.toThrow();
  expect(asked.map((headers) => headers.get('Quittance-Account'))).toEqual(['acc_1', null]);
  for (const account of ['', 'shop', 'acc_1\r\nx: y'])
    expect(() => new Quittance({ ...options, account })).toThrow('must be the id of an account');
});
