import { describe, expect, test } from '@jest/globals';
import { newEndpointId } from '@quittance/shared/ids';
import { recordAttempts } from '../src/operations/attempt-delivery.ts';
import {
  type Answered,
  anAccount,
  anEvent,
  forbidden,
  freshQueue,
  HOUR,
  invalid,
  noWebhook,
  openFixture,
} from './fixture.ts';

const fixture = await openFixture();
const { clock, ports, receiver, answerWith, call, receive, claim, attempt, deliver } = fixture;
const { deliverAll, deliveriesOf, aShop, arrivedAt, sequencesAt, statesOf, queuesOf } = fixture;
const { lastAttemptIsDue, subscribedSince } = fixture;
const url = 'https://shop.example/hook';

const changed: Answered = {
  status: 200,
  body: { message: 'Webhook updated successfully.', data: expect.anything() },
};
const notAnObject = invalid({ body: ['The body must be a JSON object.'] });

describe('PATCH', () => {
  test('changes the given fields and no others', async () => {
    const { patch, shown } = await aShop(url);
    const changes: [object, object][] = [
      [{ description: ' the shop ' }, { description: 'the shop' }],
      [{ events: ['payout.failed', 'payout.failed'] }, { events: ['payout.failed'] }],
      [{ url: ' https://shop.example/new ' }, { url: 'https://shop.example/new' }],
      [{ description: null }, { description: null }],
      [{ enabled: true }, {}],
    ];
    let expected = await shown();
    for (const [body, change] of changes) {
      expected = { ...expected, ...change };
      expect(await patch(body)).toEqual({
        status: 200,
        body: { message: 'Webhook updated successfully.', data: expected },
      });
      expect(await shown()).toEqual(expected);
    }
  });

  test('an endpoint and its actions take no query parameters and no fields, and say so to their merchant alone', async () => {
    const { post, shown } = await aShop(url);
    const before = await shown();
    const { id } = before;
    const unknown = invalid({ now: ['The now field is not known.'] });
    expect(await post('/disable?now=1')).toEqual(unknown);
    for (const action of ['/disable', '/enable', '/test'])
      expect(await post(action, { now: true })).toEqual(unknown);
    expect(await call('POST', `/api/webhooks/${id}/disable?now=1`, anAccount())).toEqual(forbidden);
    expect(await shown()).toEqual(before);
  });

  // A registration refuses what else is wrong in the same words: http.test.ts has both.
  const events = ['payout.failed'];
  const notBoolean = 'The enabled field must be true or false.';
  test.each<[unknown, Answered]>([
    ['', changed],
    ['{}', changed],
    ['{', notAnObject],
    ['[]', changed],
    ['[1]', notAnObject],
    ['5', notAnObject],
    [{ nothing: 'known' }, invalid({ nothing: ['The nothing field is not known.'] })],
    [{ events, descripton: 'x' }, invalid({ descripton: ['The descripton field is not known.'] })],
    [{ events: null }, invalid({ events: ['The events field is required.'] })],
    [{ events, enabled: null }, invalid({ enabled: ['The enabled field is required.'] })],
    [{ events, enabled: 'yes' }, invalid({ enabled: [notBoolean] })],
    [
      { url: 'ftp://shop.example/', events: ['no'], description: 5, enabled: 2 },
      invalid({
        url: ['The url must be a valid URL.'],
        'events.0': ['The selected events.0 is invalid.'],
        description: ['The description must be a string.'],
        enabled: [notBoolean],
      }),
    ],
  ])('%j changes nothing', async (body, answer) => {
    const { patch, shown } = await aShop(url);
    const before = await shown();
    expect(await patch(body)).toEqual(answer);
    expect(await shown()).toEqual(before);
  });

  test('subscribes to added event types from then on', async () => {
    const { account, key, patch } = await aShop('/kinds', ['invoice.paid']);
    await patch({ events: ['invoice.paid'], description: 'x' });
    expect(await subscribedSince(key)).toBeNull();
    await receive(anEvent({ account, kind: 'payout.failed' }));
    await patch({ events: ['invoice.paid', 'payout.failed'] });
    await receive(anEvent({ account, kind: 'payout.failed' }));
    expect(await deliveriesOf(key)).toMatchObject([{ sequence: '2', state: 'waiting' }]);
    const since = clock.now();
    expect(await subscribedSince(key)).toEqual(since);
    // With fewer event types, it is subscribed to the others since the same time.
    clock.advance(1_000);
    await patch({ events: ['payout.failed'] });
    expect(await subscribedSince(key)).toEqual(since);
  });

  test('sends waiting deliveries to a new URL, with a new health', async () => {
    const { account, key, patch, shown } = await aShop('/old');
    answerWith(500);
    await receive(anEvent({ account }));
    await deliverAll();
    expect(await queuesOf(key)).toMatchObject([{ consecutive_failures: 1 }]);
    expect((await shown()).failing_since).toEqual(clock.now().toISOString());

    answerWith(200);
    const { body } = await patch({ url: `${receiver.url}/new` });
    expect(body.data.failing_since).toBeNull();
    expect(await queuesOf(key)).toEqual([freshQueue]);
    clock.advance(6_000);
    await deliverAll();
    expect(arrivedAt('/old')).toHaveLength(1);
    expect(arrivedAt('/new')).toHaveLength(1);
    expect(await statesOf(key)).toEqual(['delivered']);
  });
});

test('a delivery whose last attempt failed at the former URL starts a new retry cycle at the new one', async () => {
  const { account, key, patch } = await aShop('/tenth');
  await receive(anEvent({ account }));
  await lastAttemptIsDue(key);
  answerWith(500);
  const attempts = await attempt(await claim());
  await patch({ url: `${receiver.url}/eleventh` });
  await recordAttempts(ports, attempts);
  await deliverAll();
  expect(arrivedAt('/eleventh')).toHaveLength(1);
  expect(await deliveriesOf(key)).toMatchObject([{ state: 'waiting', attempts: 11 }]);
  // Other tests do not claim it.
  answerWith(200);
  clock.advance(6_000);
  await deliverAll();
});

test.each([
  ['has moved', 'PATCH', ''],
  ['was disabled and enabled again', 'POST', '/enable'],
])(
  'the answer of the former address does not change the health of an endpoint that %s',
  async (_, verb, path) => {
    const { account, id, key, post, shown } = await aShop(`/former-${verb}`);
    await receive(anEvent({ account }), anEvent({ account, resource: 'inv_2' }));
    const claimed = await claim();
    let turn = 0;
    receiver.answer((response) => response.writeHead(turn++ === 0 ? 410 : 500).end());
    const attempts = await attempt(claimed);
    if (verb === 'POST') await post('/disable');
    const url = `${receiver.url}/present-${verb}`;
    expect(
      (await call(verb, `/api/webhooks/${id}${path}`, account, verb === 'PATCH' ? { url } : undefined))
        .status,
    ).toBe(200);
    await recordAttempts(ports, attempts);

    expect(await shown()).toMatchObject({ enabled: true, failing_since: null });
    expect(await queuesOf(key)).toEqual([freshQueue]);
    answerWith(200);
    await deliverAll();
    expect(await deliveriesOf(key)).toMatchObject([
      { state: 'delivered', attempts: 2 },
      { state: 'delivered', attempts: 2 },
    ]);
    const to = verb === 'PATCH' ? '/present-PATCH' : '/former-POST';
    expect(sequencesAt(to).slice(-2).sort()).toEqual([1, 2]);
  },
);

test('concurrent changes of an endpoint are atomic, end in time and lose no delivery', async () => {
  const { account, key, path, post, shown } = await aShop('/at-once-0');
  receiver.answer((response) => response.writeHead(Math.random() < 0.3 ? 500 : 200).end());
  const answers: Answered[] = [];
  const change = async (round: number): Promise<void> => {
    const [verb, to, body] = [
      ['PATCH', path, { url: `${receiver.url}/at-once-${round}`, description: `round ${round}` }],
      ['POST', `${path}/disable`, undefined],
      ['PATCH', path, { enabled: true }],
      ['POST', `${path}/enable`, undefined],
      ['POST', `${path}/rotate`, { overlap_hours: round % 2 }],
      ['POST', `${path}/test`, undefined],
    ][round % 6] as [string, string, unknown];
    answers.push(await call(verb, to, account, body));
  };
  await Promise.all([
    ...Array.from({ length: 60 }, (_, round) => change(round)),
    ...Array.from({ length: 30 }, () => receive(anEvent({ account }))),
    ...[1, 2].map(async () => {
      for (let i = 0; i < 30; i++) await deliver();
    }),
  ]);
  // 409: a test of a disabled endpoint, or a sixth secret.
  expect(answers.filter(({ status }) => ![200, 202, 409].includes(status))).toEqual([]);
  await post('/enable');
  for (let i = 0; i < 12; i++) {
    await deliverAll();
    clock.advance(3 * HOUR);
  }
  const states = await statesOf(key);
  expect(states.filter((state) => state !== 'delivered' && state !== 'cancelled')).toEqual([]);
  expect(await queuesOf(key)).toMatchObject([{ consecutive_failures: 0 }]);
  const { description, url: last } = await shown();
  const [, round] = /^round (\d+)$/.exec(description) ?? [];
  expect(last).toBe(`${receiver.url}/at-once-${round}`);
});

test.each([
  ['GET', ''],
  ['DELETE', ''],
  ['PATCH', ''],
  ['POST', '/enable'],
  ['POST', '/disable'],
  ['POST', '/rotate'],
  ['POST', '/test'],
  ['POST', '/replay'],
  ['GET', '/deliveries?limit=0'],
])('%s …%s answers 404 before 403, and 403 before it checks fields', async (verb, below) => {
  const { path } = await aShop(url);
  const stranger = anAccount();
  const body = verb === 'GET' ? undefined : { url: 5, overlap_hours: 99 };
  expect(await call(verb, `${path}${below}`, stranger, body)).toEqual(forbidden);
  for (const unknown of [newEndpointId(), 'whe_0', '1', 'x'.repeat(300), '%00', 'a%2Fb', "';--"]) {
    expect(await call(verb, `/api/webhooks/${unknown}${below}`, stranger, body)).toEqual(noWebhook);
  }
  expect((await call('GET', '/api/webhooks', stranger)).body.data).toEqual([]);
});
