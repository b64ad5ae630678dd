import { expect, test } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { identityOf } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import { EventSource } from 'eventsource';
import { replayEvents } from '../src/operations/deliveries.ts';
import { changeEndpoint, readEndpoint } from '../src/operations/endpoints.ts';
import { recordEvents } from '../src/operations/events.ts';
import { anAccount, anEvent, HOUR, openFixture } from './fixture.ts';

const { db, clock, ports, receiver, port, receive, pageOf, deliverAll, aShop } = await openFixture();

type Told = { id: string; sequence: number; version: number; data: { id: string; n: number } };

test('a reader never sees a sequence number before a smaller one while many transactions write', async () => {
  const accounts = [anAccount(), anAccount()];
  const WRITERS = 7;
  const BATCHES = 25;
  let writing = true;
  let written = 0;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let i = 0; i < BATCHES; i++) {
      // Both accounts in one transaction, and sometimes a batch that is rolled back.
      const batch = Array.from({ length: 1 + ((writer + i) % 4) }, (_, n) =>
        anEvent({ account: accounts[(n + i) % 2] as AccountId, resource: `inv_${writer}` }),
      );
      if (i % 5 === 0) {
        const undone = new Error('undone');
        const trying = db.transaction(async (trx) => {
          await recordEvents(trx, batch, ports);
          throw undone;
        });
        await expect(trying).rejects.toBe(undone);
      }
      await receive(...batch);
      written += batch.length;
    }
  });
  const readers = accounts.map(async (account) => {
    const seen: string[] = [];
    for (let looksLeft = 2; looksLeft > 0; ) {
      if (!writing) looksLeft -= 1;
      const { events, nextAfter } = await pageOf(account, { after: seen.length, limit: 40 });
      seen.push(...events.map(({ sequence }) => sequence));
      expect(nextAfter).toBe(seen.at(-1) ?? '0');
      if (events.length === 40) looksLeft = 2;
    }
    return seen;
  });
  await Promise.all(writers);
  writing = false;
  const seen = await Promise.all(readers);
  for (const numbers of seen) expect(numbers).toEqual(numbers.map((_, i) => String(i + 1)));
  expect(seen.flat()).toHaveLength(written);
});

test('a receiver that drops older versions ends with the latest one in any order of arrival', async () => {
  const { account } = await aShop('/versions');
  const shown = new Map<string, Told>();
  let olderAfterYounger = 0;
  let requests = 0;
  receiver.answer((response, { body }) => {
    requests += 1;
    // Most first attempts fail, in different ways.
    if ((requests * 2_654_435_761) % 7 < 4) return void response.writeHead(500).end();
    const told = JSON.parse(body) as Told;
    const known = shown.get(told.data.id);
    if (known !== undefined && known.version > told.version) olderAfterYounger += 1;
    else shown.set(told.data.id, told);
    response.writeHead(200).end();
  });
  for (let version = 1; version <= 8; version++) {
    const events = Array.from({ length: 6 }, (_, i) =>
      anEvent({ account, resource: `inv_${i}`, version, data: { id: `inv_${i}`, n: version } }),
    );
    await receive(...events);
    await deliverAll();
    clock.advance(60_000);
  }
  for (let i = 0; i < 40; i++) {
    clock.advance(2 * HOUR);
    await deliverAll();
  }
  expect(olderAfterYounger).toBeGreaterThan(5);
  expect([...shown.values()].map(({ data }) => data.n)).toEqual([8, 8, 8, 8, 8, 8]);
});

test('a shop that was offline for a week gets all events by pages, by a stream or by a replay', async () => {
  const { account, id } = await aShop('/week');
  const happens = async (n: number) => {
    await receive(...Array.from({ length: n }, () => anEvent({ account, at: clock.now() })));
    await deliverAll();
  };
  /** The events that the shop answered with 200, some of them more than once. */
  const taken: Told[] = [];
  let isUp = true;
  receiver.answer((response, { body, path }) => {
    response.writeHead(isUp ? 200 : 503).end();
    if (isUp && path === '/week') taken.push(JSON.parse(body) as Told);
  });
  const begun = clock.now();
  await happens(3);
  expect(taken.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);

  isUp = false;
  for (let day = 0; day < 7; day++) {
    await happens(4);
    for (let i = 0; i < 4; i++) {
      clock.advance(6 * HOUR);
      await deliverAll();
    }
  }
  expect(taken).toHaveLength(3);
  const away = await readEndpoint(ports, account, id);
  if (!away.ok) throw new Error(away.refusal);
  const { missedSince } = away.value;
  expect(away.value).toMatchObject({
    enabled: false,
    disabledReason: 'No delivery has succeeded for 5 days.',
    // When the first attempt at the oldest missed event failed.
    failingSince: begun,
  });
  expect(missedSince).toEqual(new Date(begun.getTime() - HOUR));

  // First way: it reads on from its last event, page by page.
  isUp = true;
  const all = Array.from({ length: 31 }, (_, i) => i + 1);
  const numbersOf = (events: readonly { sequence: string }[]) =>
    // eslint-disable-next-line no-restricted-syntax -- sequence numbers
    events.map(({ sequence }) => Number(sequence));
  const read: number[] = [];
  for (let after = 3, more = true; more; ) {
    const { events, hasMore, nextAfter } = await pageOf(account, { after, limit: 10 });
    read.push(...numbersOf(events));
    // eslint-disable-next-line no-restricted-syntax -- a sequence number
    [after, more] = [Number(nextAfter), hasMore];
  }
  expect(read).toEqual(all.slice(3));

  // Second way: a stream from there.
  const heard: number[] = [];
  const path = '/api/events/stream?after=3';
  const source = new EventSource(`http://127.0.0.1:${port}${path}`, {
    fetch: (input, init) => {
      const headers = { ...init.headers, ...identityOf(account, { method: 'GET', path, now: clock.now() }) };
      return fetch(input, { ...init, headers });
    },
  });
  source.addEventListener('invoice.created', ({ data }) => heard.push((JSON.parse(data) as Told).sequence));
  try {
    await eventually(() => expect(heard).toEqual(all.slice(3)));
  } finally {
    source.close();
  }

  // Third way: a replay of exhausted deliveries and of events without a delivery.
  expect((await changeEndpoint(ports, account, id, { enabled: true })).ok).toBe(true);
  await deliverAll();
  expect(taken).toHaveLength(3);
  const range = {
    from: missedSince as Date,
    to: new Date(clock.now().getTime() + 1),
    eventTypes: null,
  };
  const order = { ...range, includeDelivered: false };
  expect(await replayEvents(ports, account, id, order)).toMatchObject({
    ok: true,
    value: { queued: 28, alreadyDelivered: 3 },
  });
  // A second replay queues nothing more.
  expect(await replayEvents(ports, account, id, order)).toMatchObject({ value: { queued: 0 } });
  await deliverAll();
  expect(taken.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual(all);
  expect(new Set(taken.map((event) => event.id)).size).toBe(31);
  await happens(1);
  expect(taken.at(-1)?.sequence).toBe(32);
});
