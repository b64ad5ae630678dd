import { expect, test } from '@jest/globals';
import { IDENTITY_HEADER } from '@quittance/shared/identity';
import { defaultEventTypes } from '../src/domain/event-types.ts';
import { anAccount, invalid, openFixture } from './fixture.ts';

const fixture = await openFixture();
const { db, port, anEndpoint } = fixture;
/** With the settings of production. */
const { call } = await fixture.serve({ allowInsecureEndpoints: false });

const url = 'https://shop.example/hook';
test('only the answer to the registration contains the secret of an endpoint', async () => {
  const account = anAccount();
  const made = await call('POST', '/api/webhooks', account, { url: ` ${url} ` });
  expect(made).toEqual({
    status: 201,
    body: {
      message: expect.any(String),
      data: {
        id: expect.stringMatching(/^whe_[0-9a-z]{36}$/),
        url,
        events: defaultEventTypes,
        description: null,
        enabled: true,
        disabled_reason: null,
        disabled_at: null,
        missed_since: null,
        failing_since: null,
        paused_until: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        secret: expect.stringMatching(/^whsec_/),
      },
    },
  });
  const { secret, ...shown } = made.body.data;
  expect(await call('GET', `/api/webhooks/${shown.id}`, account)).toEqual({ status: 200, body: shown });
  expect((await call('GET', '/api/webhooks', account)).body.data).toEqual([shown]);
  const dump = JSON.stringify(
    await db.rows(
      `select encode(encrypted_secret, 'escape') as encrypted_secret, e.* from endpoint_secrets s join endpoints e on e.key = s.endpoint_key`,
    ),
  );
  expect(dump).toContain(shown.id);
  expect(dump).not.toContain(secret.slice(6));
});

const long = (characters: number) => `https://shop.example/${'a'.repeat(characters - 21)}`;

test('an endpoint can have a URL of the maximum length and name event types beyond the defaults, each once', async () => {
  const order = {
    url: long(2_048),
    events: ['payout.created', 'webhook.test', 'payout.created'],
    description: ' the shop ',
  };
  const { status, body } = await call('POST', '/api/webhooks', anAccount(), order);
  expect(status).toBe(201);
  expect(body.data).toMatchObject({ events: ['payout.created', 'webhook.test'], description: 'the shop' });
});

const required = { url: ['The url field is required.'] };
const malformed = { url: ['The url must be a valid URL.'] };
const notPublic = { url: ['The url must not point to a private address.'] };
const notHttps = { url: ['The url must start with one of the following: https://.'] };

test.each<[unknown, Record<string, string[]>]>([
  ['', required],
  ['{"url":', required],
  [[], required],
  [{ url: null }, required],
  [{ url: '   ' }, required],
  [{ url: 5 }, { url: ['The url must be a string.'] }],
  [{ url: [url] }, { url: ['The url must be a string.'] }],
  [{ url: 'shop.example/hook' }, malformed],
  [{ url: 'https://' }, malformed],
  [{ url: 'https://shop example/' }, malformed],
  [{ url: 'https://1.2.3.4.5/' }, malformed],
  [{ url: 'ftp://shop.example/' }, malformed],
  [{ url: 'javascript:alert(1)' }, malformed],
  [{ url: 'file:///etc/passwd' }, malformed],
  [{ url: 'https://me:secret@shop.example/' }, malformed],
  [{ url: long(2_049) }, { url: ['The url must not be greater than 2048 characters.'] }],
  [{ url: 'http://shop.example/hook' }, notHttps],
  // All other forms of private addresses are in ssrf-forms.ts.
  ...['127.0.0.1', '[fd00::1]', 'localhost:8443'].map((host): [unknown, Record<string, string[]>] => [
    { url: `https://${host}/` },
    notPublic,
  ]),
  ...[
    '..',
    '.',
    'a..b',
    'localhost..',
    '.shop.example',
    'shop.example..',
    '-shop.example',
    'shop-.example',
    'my_shop.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}example`,
  ].map((host): [unknown, Record<string, string[]>] => [{ url: `https://${host}/` }, malformed]),
  [{ url, events: 'invoice.paid' }, { events: ['The events must be an array.'] }],
  [{ url, events: {} }, { events: ['The events must be an array.'] }],
  // Spaces around the URL are not part of it, also when other fields are wrong.
  [{ url: `\u00a0${url}`, events: ['bogus'] }, { 'events.0': ['The selected events.0 is invalid.'] }],
  [{ url, events: [] }, { events: ['The events must have at least 1 items.'] }],
  [{ url, events: ['invoice.sold'] }, { 'events.0': ['The selected events.0 is invalid.'] }],
  [
    { url, events: ['invoice.paid', 5, null, 'deposit.settled'] },
    {
      'events.1': ['The selected events.1 is invalid.'],
      'events.2': ['The selected events.2 is invalid.'],
      'events.3': ['The selected events.3 is invalid.'],
    },
  ],
  [
    { url, description: 'x'.repeat(256) },
    { description: ['The description must not be greater than 255 characters.'] },
  ],
  [{ url, description: ['x'] }, { description: ['The description must be a string.'] }],
  [
    { url: 'http://localhost/', events: ['no'], description: 5 },
    {
      ...notHttps,
      'events.0': ['The selected events.0 is invalid.'],
      description: ['The description must be a string.'],
    },
  ],
])('%j is refused at a registration, and by a change where its fields are given', async (body, errors) => {
  const account = anAccount();
  expect(await call('POST', '/api/webhooks', account, body)).toEqual(invalid(errors));
  expect((await call('GET', '/api/webhooks', account)).body.meta.total).toBe(0);
  if (Object(body).url === undefined) return;
  const { path, shown } = await anEndpoint(account, url);
  const before = await shown();
  expect(await call('PATCH', path, account, body)).toEqual(invalid(errors));
  expect(await shown()).toEqual(before);
});

test('a sandbox accepts http and private addresses', async () => {
  const made = await fixture.call('POST', '/api/webhooks', anAccount(), { url: 'http://localhost:9/x' });
  expect(made.status).toBe(201);
});

test('an account has at most twenty endpoints, also with concurrent requests, and a deleted one makes room', async () => {
  const account = anAccount();
  const made = await Promise.all(
    Array.from({ length: 30 }, () => call('POST', '/api/webhooks', account, { url })),
  );
  expect(made.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(made.find(({ status }) => status !== 201)).toEqual(
    invalid({ url: ['The webhooks must not have more than 20 items.'] }),
  );
  const { id } = made.find(({ status }) => status === 201)?.body.data ?? {};
  expect((await call('DELETE', `/api/webhooks/${id}`, account)).status).toBe(200);
  expect((await call('POST', '/api/webhooks', account, { url })).status).toBe(201);
  expect((await call('POST', '/api/webhooks', account, { url })).status).toBe(422);
});

test('the list of endpoints has Laravel’s form, the newest first', async () => {
  const account = anAccount();
  for (let i = 1; i <= 12; i++)
    await call('POST', '/api/webhooks', account, { url: `https://shop.example/${i}` });
  const first = await call('GET', '/api/webhooks', account);
  const shown = ({ body }: typeof first) =>
    body.data.map((one: { url: string }) => one.url.split('/').pop()).join();
  expect(shown(first)).toBe('12,11,10,9,8,7,6,5,4,3');
  const path = 'http://quittance.test/api/webhooks';
  // What else a page has follows from these: pages.test.ts of shared has all of it.
  expect(first.body.links).toMatchObject({ prev: null, next: `${path}?page=2` });
  expect(first.body.meta).toMatchObject({ current_page: 1, per_page: 10, total: 12, path });
  const second = await call('GET', '/api/webhooks?page=2&perPage=5', account);
  expect(shown(second)).toBe('7,6,5,4,3');
  expect((await call('GET', '/api/webhooks?page=9', account)).body.data).toEqual([]);
  expect((await call('GET', '/api/webhooks?perPage=101', account)).body.errors).toEqual({
    perPage: ['The per page must not be greater than 100.'],
  });
});

test('a deleted endpoint is not found', async () => {
  const account = anAccount();
  const { id } = await anEndpoint(account, url);
  expect(await call('DELETE', `/api/webhooks/${id}`, account)).toEqual({
    status: 200,
    body: { message: expect.any(String) },
  });
  expect((await call('DELETE', `/api/webhooks/${id}`, account)).status).toBe(404);
  expect((await call('GET', `/api/webhooks/${id}`, account)).status).toBe(404);
  expect((await call('GET', '/api/webhooks', account)).body.data).toEqual([]);
});

test('a request without the gateway’s identity header is refused', async () => {
  for (const path of ['/api/webhooks', '/api/webhooks/whe_1', '/api/events', '/api/events/evt_1']) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { [IDENTITY_HEADER]: 'e30.x' },
    });
    expect(answer.status).toBe(401);
  }
});
