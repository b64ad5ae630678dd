import { expect, test } from '@jest/globals';
import type { Logger } from '@quittance/shared/logger';
import { Webhook } from 'standardwebhooks';
import { deliveryIdOf } from '../src/domain/delivery.ts';
import { pauses } from '../src/domain/outcome.ts';
import { LEASE_MS } from '../src/operations/claim-deliveries.ts';
import { redeliver } from '../src/operations/deliveries.ts';
import { anEvent, HOUR, openFixture, SECOND } from './fixture.ts';

const fixture = await openFixture();
const { clock, ports, receiver, answerWith, receive, claim, deliver } = fixture;
const { deliverAll, deliveriesOf, takeBack, receiveMany, aShop, arrivedAt, statesOf } = fixture;
const said: { fields: object; message: string }[] = [];
const info = (fields: object, message: string) => void said.push({ fields, message });
const logger = Object.assign(Object.create(ports.logger), { info }) as Logger;
Object.assign(ports, { logger });

test('a delivery has ten attempts over 75 hours, each at its time, with the same id and body and its own signature', async () => {
  const { account, key, secret } = await aShop('/never');
  const event = anEvent({ account });
  answerWith(503);
  await receive(event);
  await deliverAll();
  const attempted = [clock.now()];
  for (const [attempt, pause] of [...pauses.entries()].slice(1)) {
    const [delivery] = await deliveriesOf(key);
    expect(delivery).toMatchObject({ state: 'waiting', attempts: attempt });
    const waited = (delivery?.due_at.getTime() ?? 0) - clock.now().getTime();
    expect(waited).toBeGreaterThanOrEqual(0.9 * pause);
    expect(waited).toBeLessThanOrEqual(1.1 * pause);
    clock.advance(waited - 1);
    await deliverAll();
    expect(arrivedAt('/never')).toHaveLength(attempt);
    clock.advance(1);
    await deliverAll();
    expect(arrivedAt('/never')).toHaveLength(attempt + 1);
    attempted.push(clock.now());
  }
  expect(await deliveriesOf(key)).toMatchObject([{ state: 'exhausted', attempts: 10 }]);
  clock.advance(100 * HOUR);
  await deliverAll();
  const arrived = arrivedAt('/never');
  expect(arrived).toHaveLength(10);
  expect(new Set(arrived.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([event.id]));
  expect(new Set(arrived.map(({ body }) => body)).size).toBe(1);
  for (const [i, { headers, body }] of arrived.entries()) {
    const at = attempted[i] ?? new Date(0);
    expect(headers['webhook-timestamp']).toBe(String(Math.floor(at.getTime() / SECOND)));
    // The package checks the timestamp with its own clock, so only the signature is compared.
    expect(headers['webhook-signature']).toBe(new Webhook(secret).sign(event.id, at, body));
  }
});

test('an endpoint that asks for a pause receives nothing until its end, and then one delivery first', async () => {
  const { account, id, key, shown } = await aShop('/pause');
  const first = anEvent({ account });
  await receive(first);
  await deliverAll();
  const more = (count: number) => receiveMany(account, count);
  const arrived = () => arrivedAt('/pause').length;
  receiver.answer((response) => response.writeHead(429, { 'retry-after': '7200' }).end());
  await more(50);
  await deliverAll();
  // As many as were in flight together.
  expect(arrived()).toBe(1 + 16);
  expect(await shown()).toMatchObject({ paused_until: clock.hence(2 * HOUR) });
  clock.advance(HOUR);
  await more(5);
  expect((await redeliver(ports, account, deliveryIdOf(id, first.id))).ok).toBe(true);
  await deliverAll();
  expect(arrived()).toBe(17);
  const waiting = await deliveriesOf(key);
  expect(waiting.filter(({ attempts }) => attempts === 0)).toHaveLength(34 + 5);

  // It still fails, without Retry-After.
  answerWith(503);
  clock.advance(HOUR);
  expect(await claim()).toHaveLength(1);
  expect(await claim()).toEqual([]);
  clock.advance(LEASE_MS);
  await takeBack();
  expect(await deliver()).toHaveLength(1);
  expect(await deliver()).toHaveLength(1);

  answerWith(200);
  expect(await deliver()).toHaveLength(1);
  expect(await shown()).toMatchObject({ paused_until: null });
  expect((await deliver()).length).toBeGreaterThan(10);
  clock.advance(HOUR);
  await deliverAll();
  expect(new Set(await statesOf(key))).toEqual(new Set(['delivered']));
});

test('a success restarts the five days, after which the endpoint is disabled with a reason', async () => {
  const { account, id, shown } = await aShop('/five');
  const fails = async (days: number) => {
    answerWith(500);
    for (let half = 0; half < 2 * days; half++) {
      await receive(anEvent({ account }));
      await deliverAll();
      clock.advance(12 * HOUR);
    }
  };
  await fails(4.5);
  expect((await shown()).enabled).toBe(true);

  answerWith(204);
  await receive(anEvent({ account }));
  await deliverAll();
  // Nine days of failures with one success.
  await fails(4.5);
  await deliverAll();
  expect((await shown()).enabled).toBe(true);

  said.length = 0;
  await fails(1);
  expect(await shown()).toMatchObject({
    enabled: false,
    disabled_reason: 'No delivery has succeeded for 5 days.',
  });
  expect(said).toContainEqual({
    fields: { endpoint: id, why: 'No delivery has succeeded for 5 days.' },
    message: 'disabled an endpoint',
  });
  const told = arrivedAt('/five').length;
  await fails(1);
  expect(arrivedAt('/five')).toHaveLength(told);
});
