import { describe, expect, test } from '@jest/globals';
import { newEndpointId } from '@quittance/shared/ids';
import { attemptDelivery, recordAttempts } from '../src/operations/attempt-delivery.ts';
import { claimDeliveries } from '../src/operations/claim-deliveries.ts';
import { type Answered, forbidden, invalid, noWebhook } from './caller.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  deliver,
  deliverAll,
  deliveriesOf,
  ROOM,
  receiveEvents,
} from './fixture.ts';
import { freshQueue, queueFixture } from './queue-fixture.ts';
import { openReceiverFixture } from './receiver-fixture.ts';

const { fixture, receiver, arrivedAt, statesOf, answerWith, caller, aShop } = await openReceiverFixture();
const { queuesOf, lastAttemptIsDue, subscribedSince } = queueFixture(fixture);
/** With the settings of a sandbox, and of production. */
const lax = await caller();
const strict = await caller({ allowInsecure: false });

/** Delivers everything, so that other tests do not claim it. */
async function finish(): Promise<void> {
  answerWith(200);
  fixture.clock.advance(6_000);
  await deliverAll(fixture.ports);
}
const url = 'https://shop.example/hook';

const changed: Answered = {
  status: 200,
  body: { message: 'Webhook updated successfully.', data: expect.anything() },
};
const notAnObject = invalid({ body: ['The body must be a JSON object.'] });

describe('PATCH', () => {
  test('changes the given fields and no others', async () => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, url);
    const before = (await strict.call('GET', `/api/webhooks/${id}`, account)).body;
    const changes: [object, object][] = [
      [{ description: ' the shop ' }, { description: 'the shop' }],
      [{ events: ['payout.failed', 'payout.failed'] }, { events: ['payout.failed'] }],
      [{ url: ' https://shop.example/new ' }, { url: 'https://shop.example/new' }],
      [{ description: null }, { description: null }],
      [{ enabled: true }, {}],
    ];
    let expected = before;
    for (const [body, change] of changes) {
      expected = { ...expected, ...change };
      expect(await strict.call('PATCH', `/api/webhooks/${id}`, account, body)).toEqual({
        status: 200,
        body: { message: 'Webhook updated successfully.', data: expected },
      });
      expect((await strict.call('GET', `/api/webhooks/${id}`, account)).body).toEqual(expected);
    }
  });

  test.each<[string, Answered]>([
    ['', changed],
    ['{}', changed],
    ['{', notAnObject],
    ['[]', notAnObject],
    ['5', notAnObject],
    ['{"nothing":"known"}', invalid({ nothing: ['The nothing field is not known.'] })],
    ['{"descripton":"x"}', invalid({ descripton: ['The descripton field is not known.'] })],
  ])('%j changes nothing', async (body, answer) => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, url);
    const before = (await strict.call('GET', `/api/webhooks/${id}`, account)).body;
    expect(await strict.call('PATCH', `/api/webhooks/${id}`, account, body)).toEqual(answer);
    expect((await strict.call('GET', `/api/webhooks/${id}`, account)).body).toEqual(before);
  });

  // A registration refuses what else is wrong in the same words: http.test.ts has both.
  test.each<[object, Record<string, string[]>]>([
    [{ events: null }, { events: ['The events field is required.'] }],
    [{ enabled: null }, { enabled: ['The enabled field is required.'] }],
    [{ enabled: 'yes' }, { enabled: ['The enabled field must be true or false.'] }],
    [
      { url: 'https://localhost/', events: ['no'], description: 5, enabled: 2 },
      {
        url: ['The url must not point to a private address.'],
        'events.0': ['The selected events.0 is invalid.'],
        description: ['The description must be a string.'],
        enabled: ['The enabled field must be true or false.'],
      },
    ],
  ])('refuses %j and changes nothing', async (body, errors) => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, url);
    const before = (await strict.call('GET', `/api/webhooks/${id}`, account)).body;
    expect(
      await strict.call('PATCH', `/api/webhooks/${id}`, account, { events: ['payout.failed'], ...body }),
    ).toEqual(invalid(errors));
    expect((await strict.call('GET', `/api/webhooks/${id}`, account)).body).toEqual(before);
  });

  test('subscribes to added event types from then on', async () => {
    const { account, id, key } = await aShop('/kinds', ['invoice.paid']);
    await lax.call('PATCH', `/api/webhooks/${id}`, account, { events: ['invoice.paid'], description: 'x' });
    expect(await subscribedSince(key)).toBeNull();
    await receiveEvents(fixture.ports, anEvent({ account, kind: 'payout.failed' }));
    await lax.call('PATCH', `/api/webhooks/${id}`, account, { events: ['invoice.paid', 'payout.failed'] });
    await receiveEvents(fixture.ports, anEvent({ account, kind: 'payout.failed' }));
    expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ sequence: '2', state: 'waiting' }]);
    const since = fixture.clock.now();
    expect(await subscribedSince(key)).toEqual(since);
    // With fewer event types, it is subscribed to the others since the same time.
    fixture.clock.advance(1_000);
    await lax.call('PATCH', `/api/webhooks/${id}`, account, { events: ['payout.failed'] });
    expect(await subscribedSince(key)).toEqual(since);
  });

  test('sends waiting deliveries to a new URL, with a new health', async () => {
    const { account, id, key } = await aShop('/old');
    answerWith(500);
    await receiveEvents(fixture.ports, anEvent({ account }));
    await deliverAll(fixture.ports);
    expect(await queuesOf(key)).toMatchObject([{ consecutive_failures: 1 }]);
    expect((await lax.call('GET', `/api/webhooks/${id}`, account)).body.failing_since).toEqual(
      fixture.clock.now().toISOString(),
    );

    answerWith(200);
    const { body } = await lax.call('PATCH', `/api/webhooks/${id}`, account, { url: `${receiver.url}/new` });
    expect(body.data.failing_since).toBeNull();
    expect(await queuesOf(key)).toEqual([freshQueue]);
    fixture.clock.advance(6_000);
    await deliverAll(fixture.ports);
    expect(arrivedAt('/old')).toHaveLength(1);
    expect(arrivedAt('/new')).toHaveLength(1);
    expect(await statesOf(key)).toEqual(['delivered']);
  });
});

test('a delivery whose last attempt failed at the former URL starts a new retry cycle at the new one', async () => {
  const { account, id, key } = await aShop('/tenth');
  await receiveEvents(fixture.ports, anEvent({ account }));
  await lastAttemptIsDue(key);
  answerWith(500);
  const claimed = await claimDeliveries(fixture.ports, ROOM);
  const attempts = await Promise.all(claimed.map((delivery) => attemptDelivery(fixture.ports, delivery)));
  await lax.call('PATCH', `/api/webhooks/${id}`, account, { url: `${receiver.url}/eleventh` });
  await recordAttempts(fixture.ports, attempts);
  await deliverAll(fixture.ports);
  expect(arrivedAt('/eleventh')).toHaveLength(1);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'waiting', attempts: 11 }]);
  await finish();
});

test.each([
  ['has moved', 'PATCH', ''],
  ['was disabled and enabled again', 'POST', '/enable'],
])(
  'the answer of the former address does not change the health of an endpoint that %s',
  async (_, verb, path) => {
    const { account, id, key } = await aShop(`/former-${verb}`);
    await receiveEvents(fixture.ports, anEvent({ account }), anEvent({ account, resource: 'inv_2' }));
    const claimed = await claimDeliveries(fixture.ports, ROOM);
    let turn = 0;
    receiver.answer((response) => response.writeHead(turn++ === 0 ? 410 : 500).end());
    const attempts = await Promise.all(claimed.map((delivery) => attemptDelivery(fixture.ports, delivery)));
    if (verb === 'POST') await lax.call('POST', `/api/webhooks/${id}/disable`, account);
    const url = `${receiver.url}/present-${verb}`;
    expect((await lax.call(verb, `/api/webhooks/${id}${path}`, account, { url })).status).toBe(200);
    await recordAttempts(fixture.ports, attempts);

    expect((await lax.call('GET', `/api/webhooks/${id}`, account)).body).toMatchObject({
      enabled: true,
      failing_since: null,
    });
    expect(await queuesOf(key)).toEqual([freshQueue]);
    answerWith(200);
    await deliverAll(fixture.ports);
    expect(await deliveriesOf(fixture.db, key)).toMatchObject([
      { state: 'delivered', attempts: 2 },
      { state: 'delivered', attempts: 2 },
    ]);
    const to = verb === 'PATCH' ? '/present-PATCH' : '/former-POST';
    expect(
      arrivedAt(to)
        .slice(-2)
        .map((one) => JSON.parse(one.body).sequence)
        .sort(),
    ).toEqual([1, 2]);
  },
);

test('concurrent changes of an endpoint are atomic, end in time and lose no delivery', async () => {
  const { account, id, key } = await aShop('/at-once-0');
  const path = `/api/webhooks/${id}`;
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
    answers.push(await lax.call(verb, to, account, body));
  };
  await Promise.all([
    ...Array.from({ length: 60 }, (_, round) => change(round)),
    ...Array.from({ length: 30 }, (_, i) =>
      receiveEvents(fixture.ports, anEvent({ account, resource: `inv_${i}` })),
    ),
    (async () => {
      for (let i = 0; i < 30; i++) await deliver(fixture.ports);
    })(),
    (async () => {
      for (let i = 0; i < 30; i++) await deliver(fixture.ports);
    })(),
  ]);
  // 409: a test of a disabled endpoint, or a sixth secret.
  expect(answers.filter(({ status }) => ![200, 202, 409].includes(status))).toEqual([]);
  await lax.call('POST', `${path}/enable`, account);
  for (let i = 0; i < 12; i++) {
    await deliverAll(fixture.ports);
    fixture.clock.advance(3 * 3_600_000);
  }
  const states = await statesOf(key);
  expect(states.filter((state) => state !== 'delivered' && state !== 'cancelled')).toEqual([]);
  expect(await queuesOf(key)).toMatchObject([{ consecutive_failures: 0 }]);
  const shown = (await lax.call('GET', path, account)).body;
  const [, round] = /^round (\d+)$/.exec(shown.description) ?? [];
  expect(shown.url).toBe(`${receiver.url}/at-once-${round}`);
});

test.each([
  ['PATCH', ''],
  ['POST', '/enable'],
  ['POST', '/disable'],
  ['POST', '/rotate'],
  ['POST', '/test'],
  ['POST', '/replay'],
  ['GET', '/deliveries'],
])('%s …%s answers 404 before 403, and 403 before it checks fields', async (verb, path) => {
  const { id } = await anEndpoint(fixture.ports, anAccount(), url);
  const stranger = anAccount();
  const [query, body] = verb === 'GET' ? ['?limit=0', undefined] : ['', { url: 5, overlap_hours: 99 }];
  expect(await strict.call(verb, `/api/webhooks/${id}${path}${query}`, stranger, body)).toEqual(forbidden);
  for (const unknown of [newEndpointId(), 'whe_0', 'x'.repeat(300), '%00', "';--"]) {
    expect(await strict.call(verb, `/api/webhooks/${unknown}${path}${query}`, stranger, body)).toEqual(
      noWebhook,
    );
  }
});
