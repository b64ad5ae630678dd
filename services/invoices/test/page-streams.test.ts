import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import type { Db } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import { api } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import { readStream, type StreamReading } from '@quittance/testkit/stream-reader';
import { createPageStreams, type PageStreams, pageStreamLimits } from '../src/page-streams.ts';
import { DUE, MINUTE, openFixture } from './fixture.ts';

const { fixture, anInvoice, pay, blocks, withFresh } = await openFixture();

const readings: StreamReading[] = [];
const opened: PageStreams[] = [];
afterEach(async () => {
  for (const { leave } of readings.splice(0)) leave();
  for (const streams of opened.splice(0)) await streams.close();
});

type Headers = Record<string, string>;

async function follow(id: string, query = '', headers: Headers = {}, port = fixture.service.port) {
  const reading = await readStream({ port, path: `/pay/${id}/events${query}`, headers });
  readings.push(reading);
  return reading;
}

const page = async (id: string, port = fixture.service.port): Promise<string> =>
  (await api(port, 'GET', `/pay/${id}`, { now: fixture.clock.now() })).body;
/** The address of its events, as a page has it. */
const eventsOf = (text: string): string =>
  /data-events="([^"]+)"/.exec(text)?.[1]?.replace(/^.*\/events/, '') ?? 'the page has no events';

const changes = ({ text }: StreamReading): number => text().match(/^data: changed$/gm)?.length ?? 0;
const versionIn = ({ text }: StreamReading): string | undefined =>
  text()
    .match(/^id: (\w+)$/gm)
    ?.at(-1)
    ?.slice(4);
/** Waits for a change after so many. */
const changedAfter = (reading: StreamReading, before: number) =>
  eventually(() => expect(changes(reading)).toBeGreaterThan(before));

/** Expects that what is done changes the page of the invoice, once or several times, and that its stream says so. */
async function tellsOf(reading: StreamReading, work: () => Promise<unknown>): Promise<void> {
  const before = changes(reading);
  await work();
  await changedAfter(reading, before);
}

test('the stream of a page tells of payments, each confirmation, the credit and a refund', async () => {
  const { id, to } = await anInvoice();
  const reading = await follow(id, eventsOf(await page(id)));
  expect(reading.answer.statusCode).toBe(200);
  expect(reading.answer.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  expect(reading.text()).toMatch(/^retry: \d{4}\nid: [0-9a-f]{16}\n\n$/);
  await tellsOf(reading, () => pay(to, DUE));
  await tellsOf(reading, () => blocks(1));
  await tellsOf(reading, () => blocks(1));
  await tellsOf(reading, () => fixture.credit());
  await tellsOf(reading, () =>
    fixture.tell('refund.updated', {
      ...{ refund_id: `ref_1_${id}`, invoice_id: id, account_id: 'acc_1', version: 1, asset: 'ETH' },
      ...{ status: 'pending', amount: '5', share: '5', payout_id: '7' },
      created_at: '2026-03-02T12:00:00.000Z',
    }),
  );
});

test('blocks that change nothing of a page are not told to it', async () => {
  const [quiet, busy] = [await anInvoice(), await anInvoice()];
  const [its, others] = [await follow(quiet.id), await follow(busy.id)];
  await tellsOf(others, () => pay(busy.to, DUE));
  await tellsOf(others, () => blocks(1));
  expect(changes(its)).toBe(0);
});

test('the end of the time to pay is told, and what comes after it', async () => {
  const { id, to } = await anInvoice({ expires_in: 1 });
  const reading = await follow(id);
  await tellsOf(reading, async () => fixture.pass(MINUTE + 1));
  await tellsOf(reading, () => blocks(1));
  expect(await page(id)).toContain('Please do not pay any more');
  await tellsOf(reading, () => pay(to, DUE));
  expect(await page(id)).toContain('Your payment came too late');
});

test('the choice of an asset is told, and the stream goes on with the payments', async () => {
  const { id } = await fixture.merchant().invoice({ asset: undefined, assets: ['ETH', 'USDC_ERC20'] });
  const reading = await follow(id, eventsOf(await page(id)));
  expect(changes(reading)).toBe(0);
  await tellsOf(reading, () =>
    api(fixture.service.port, 'POST', `/pay/${id}/choose`, {
      body: 'asset=ETH',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      now: fixture.clock.now(),
    }),
  );
  const [{ address }] = await fixture.rows('select address from invoices where id = $1', [id]);
  await tellsOf(reading, () => pay(address, DUE / 2n));
});

test('a page of another time is told at once that it is old, and one of now is not', async () => {
  const { id, to } = await anInvoice();
  const old = eventsOf(await page(id));
  await pay(to, DUE / 4n);
  const [now, before, reconnected, unknown] = await Promise.all([
    follow(id, eventsOf(await page(id))),
    follow(id, old),
    follow(id, old, { 'Last-Event-ID': eventsOf(await page(id)).slice(-16) }),
    follow(id, '?after=nothing'),
  ]);
  await changedAfter(before, 0);
  expect([now, reconnected, unknown].map(changes)).toEqual([0, 0, 0]);
  expect(versionIn(now)).toBe(versionIn(before));
});

test('a mempool payment and its replacement are told', async () => {
  await withFresh({ chain: 'bitcoin' }, async (at) => {
    await at.scan();
    const made = await at.merchant().invoice({ asset: 'BTC' });
    const reading = await follow(made.id, '', {}, at.service.port);
    let tx = '';
    await tellsOf(reading, async () => {
      tx = at.chain.wait({ to: made.address.address, amount: 50_000n })[0]?.txHash ?? '';
      await at.scan();
    });
    await tellsOf(reading, async () => {
      at.chain.forget(tx);
      await at.scan();
    });
    reading.leave();
  });
});

test('a change by another replica is told', async () => {
  const { id, to } = await anInvoice();
  const other = await fixture.replica();
  const reading = await follow(id, '', {}, other.port);
  await tellsOf(reading, () => pay(to, DUE));
});

test('there is no stream of an unknown invoice, and HEAD is answered', async () => {
  for (const id of ['nothing', `inv_${'0'.repeat(36)}`]) {
    const reading = await follow(id);
    expect(reading.answer.statusCode).toBe(404);
    expect(reading.answer.headers['content-type']).toBe('text/html; charset=utf-8');
  }
  const { id } = await anInvoice();
  const head = await readStream({ port: fixture.service.port, path: `/pay/${id}/events`, method: 'HEAD' });
  expect(head.answer.statusCode).toBe(200);
  expect(await head.ended).toBe('whole');
});

test('an invoice has 50 streams of a replica, others have theirs, and one that ends makes room', async () => {
  const [many, other] = [await anInvoice(), await anInvoice()];
  const open = await Promise.all(Array.from({ length: 50 }, () => follow(many.id)));
  const refused = await follow(many.id);
  expect(refused.answer.statusCode).toBe(503);
  expect(refused.answer.headers['retry-after']).toBe('30');
  expect((await follow(other.id)).answer.statusCode).toBe(200);
  open[0]?.leave();
  await eventually(async () => expect((await follow(many.id)).answer.statusCode).toBe(200));
});

/** Streams of this suite's database with limits of their own, and what was asked of the database for them. */
function own(limits: Partial<typeof pageStreamLimits>, max = 100) {
  const asked: unknown[][] = [];
  const db: Db = {
    ...fixture.ports.db,
    rows<T extends object>(sql: Parameters<Db['rows']>[0], values: readonly unknown[] = []) {
      asked.push([...values]);
      return fixture.ports.db.rows<T>(sql, values);
    },
  };
  const streams = createPageStreams({ ...fixture.ports, db }, max, {
    ...{ ...pageStreamLimits, lookEveryMs: 50 },
    ...limits,
  });
  opened.push(streams);
  return { streams, asked };
}

/** A client's end of nothing: what is written to it stays here. */
function aResponse() {
  const res = new ServerResponse(new IncomingMessage(new Socket()));
  const written: string[] = [];
  const write = res.write.bind(res) as (text: string) => boolean;
  res.write = ((text: string) => {
    written.push(text);
    return write(text);
  }) as typeof res.write;
  return { res, text: () => written.join('') };
}

test('all pages are read in one statement, and none while nobody looks at a page', async () => {
  const { streams, asked } = own({ lookEveryMs: 20 });
  const ids = await Promise.all(Array.from({ length: 5 }, async () => (await anInvoice()).id as InvoiceId));
  const clients = ids.map((id) => ({ id, ...aResponse() }));
  expect(asked).toEqual([]);
  for (const { id, res } of clients) streams.open(res, { id, version: 'old', known: undefined });
  await eventually(() => expect(asked.length).toBeGreaterThan(2));
  for (const [watched] of asked) expect(new Set(watched as string[])).toEqual(new Set(ids));
  for (const { text } of clients) expect(text().match(/data: changed/g)).toHaveLength(1);
  for (const { res } of clients) res.destroy();
  await eventually(() => expect(streams.count()).toBe(0));
  const before = asked.length;
  await eventually(() => expect(asked.length).toBeLessThanOrEqual(before + 1));
  // The loop goes on: a page that is opened now is read again.
  const next = aResponse();
  const [id] = ids;
  streams.open(next.res, { id: id as InvoiceId, version: 'old', known: undefined });
  await eventually(() => expect(next.text()).toContain('data: changed'));
  expect(asked.at(-1)?.[0]).toEqual([id]);
});

test('a replica has so many streams', async () => {
  const { streams } = own({}, 2);
  const ids = ['inv_1', 'inv_2', 'inv_3'] as InvoiceId[];
  const opening = ids.map((id) => streams.open(aResponse().res, { id, version: 'v', known: undefined }));
  expect(opening).toEqual([undefined, undefined, 'too_many']);
});

test('a stream has heartbeats and ends after its time; a client that does not read its end is disconnected', async () => {
  const { streams } = own({ beatEveryMs: 60, lastsMs: 300, stuckMs: 300 });
  const { res, text } = aResponse();
  streams.open(res, { id: 'inv_1' as InvoiceId, version: 'v', known: undefined });
  await eventually(() => expect(text()).toMatch(/(:\n\n){2}/));
  await eventually(() => expect(res.writableEnded).toBe(true));
  expect(streams.count()).toBe(1);
  await eventually(() => expect(res.destroyed).toBe(true));
  expect(streams.count()).toBe(0);
});

test('a client that reads nothing is disconnected as soon as its buffers are full', async () => {
  const { streams } = own({ beatEveryMs: 50 });
  const { res } = aResponse();
  streams.open(res, { id: 'inv_1' as InvoiceId, version: 'v', known: undefined });
  // Without a connection nothing leaves the buffer.
  res.write('x'.repeat(res.writableHighWaterMark));
  await eventually(() => expect(res.destroyed).toBe(true));
  expect(streams.count()).toBe(0);
});

test('a stop ends all streams and opens no more', async () => {
  const { streams } = own({});
  const { res } = aResponse();
  streams.open(res, { id: 'inv_1' as InvoiceId, version: 'v', known: undefined });
  await streams.close();
  expect(res.writableEnded).toBe(true);
  expect(streams.open(aResponse().res, { id: 'inv_1' as InvoiceId, version: 'v', known: undefined })).toBe(
    'closing',
  );
});
