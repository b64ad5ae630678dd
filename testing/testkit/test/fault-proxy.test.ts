import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Pool } from 'undici';
import { type TestDatabase, testDatabase } from '../src/engines.ts';
import { eventually } from '../src/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../src/fault-proxy.ts';
import { localPort } from '../src/local-port.ts';

const PATIENCE_MS = 5_000;

/** A node that remembers what it was asked and answers with that. */
let node: Server;
let port: number;
let asked: { url: string; authorization: string | undefined; body: string }[];
let proxy: FaultProxy;
let pool: Pool;

beforeEach(async () => {
  asked = [];
  node = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      asked.push({ url: request.url ?? '', authorization: request.headers.authorization, body });
      response.end(body);
    });
  });
  port = await localPort(node);
  proxy = await startFaultProxy(`http://me:secret@127.0.0.1:${port}/v1`, 7);
  pool = new Pool(new URL(proxy.url).origin, { connections: 4 });
});
afterEach(async () => {
  await pool.destroy();
  await proxy.close();
  node.closeAllConnections();
  await new Promise((resolve) => node.close(resolve));
});

// eslint-disable-next-line no-restricted-syntax -- a port
const portOf = (url: string): number => Number(new URL(url).port);

async function ask(method: string, more = ''): Promise<string> {
  const answer = await pool.request({
    method: 'POST',
    path: '/v1',
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method, params: [more] }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return await answer.body.text();
}

describe('the fault proxy', () => {
  it('passes what it is given, and keeps credentials and path', async () => {
    expect(await ask('a', 'x'.repeat(300_000))).toContain('"method":"a"');
    expect(new URL(proxy.url)).toMatchObject({ username: 'me', password: 'secret', pathname: '/v1' });
    expect(asked[0]?.url).toBe('/v1');
    expect(proxy.counted('a')).toEqual({ asked: 1, lost: 0 });
  });

  it('leads to another target, and cuts off who is at the former one', async () => {
    await ask('a');
    const other = createServer((_request, response) => response.end('the other one'));
    const port = await localPort(other);
    try {
      proxy.leadTo(`http://127.0.0.1:${port}`);
      expect(proxy.cut()).toBe(0);
      expect(await eventually(() => ask('b'))).toBe('the other one');
    } finally {
      other.closeAllConnections();
      await new Promise((resolve) => other.close(resolve));
    }
  });

  it('is slow', async () => {
    proxy.set({ kind: 'latency', ms: 120 });
    const begun = performance.now();
    await ask('a');
    expect(performance.now() - begun).toBeGreaterThanOrEqual(115);
  });

  it('is a black hole: nothing arrives, until it is open again', async () => {
    await ask('before');
    proxy.set({ kind: 'black hole' });
    const answers = [ask('on an open connection'), ask('on a new one')];
    let done = 0;
    for (const answer of answers) void answer.then(() => done++);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([done, asked.length]).toEqual([0, 1]);
    proxy.set({ kind: 'pass' });
    await Promise.all(answers);
    expect(asked).toHaveLength(3);
  });

  it('cuts off a connection in the middle of an answer', async () => {
    proxy.set({ kind: 'reset', afterBytes: 1_000 });
    await expect(ask('a', 'x'.repeat(1_000_000))).rejects.toThrow();
    expect(asked).toHaveLength(1);
    expect(await ask('short')).toContain('short');
    proxy.set({ kind: 'reset', afterBytes: 1 });
    await expect(ask('shorter')).rejects.toThrow();
  });

  it('cuts off each connection after another number of bytes', async () => {
    proxy.set({ kind: 'reset', afterBytes: 1_000, upTo: 1_000_000 });
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => ask(`${i}`, 'x'.repeat(500_000))),
    );
    const arrived = answers.filter(({ status }) => status === 'fulfilled');
    expect(arrived.length).toBeGreaterThan(0);
    expect(arrived.length).toBeLessThan(20);
  });

  it('refuses everybody, and cuts off who is there', async () => {
    await ask('before');
    proxy.set({ kind: 'refuse' });
    await expect(ask('a')).rejects.toThrow();
    expect(proxy.fired()).toBeGreaterThanOrEqual(2);
    expect(asked).toHaveLength(1);
    proxy.set({ kind: 'pass' });
    expect(await ask('after')).toContain('after');
    expect(proxy.cut()).toBe(1);
  });

  it('says in the middle of an answer that no more will come', async () => {
    proxy.set({ kind: 'half-close', afterBytes: 1_000 });
    await expect(ask('a', 'x'.repeat(100_000))).rejects.toThrow(/other side closed|terminated/);
    expect(proxy.fired()).toBe(1);
    expect(await ask('short')).toContain('short');
  });

  it('drips', async () => {
    proxy.set({ kind: 'drip', bytes: 50, everyMs: 10 });
    const begun = performance.now();
    expect(await ask('a', 'x'.repeat(1_000))).toContain('x'.repeat(1_000));
    expect(performance.now() - begun).toBeGreaterThanOrEqual(190);
    expect(proxy.fired()).toBeGreaterThan(0);
  });

  it('keeps the order of what was slow and what is not', async () => {
    proxy.set({ kind: 'latency', ms: 150 });
    const socket = connect(portOf(proxy.url), '127.0.0.1');
    const heard: string[] = [];
    socket.on('data', (bytes: Buffer) => heard.push(bytes.toString('latin1')));
    const say = (word: string) =>
      socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${word.length}\r\n\r\n${word}`);
    say('first');
    await eventually(() => expect(asked).toHaveLength(1));
    await eventually(() => expect(proxy.fired()).toBeGreaterThan(0));
    proxy.set({ kind: 'pass' });
    say('second');
    await eventually(() => expect(heard.join('')).toMatch(/first.*second/s));
    socket.destroy();
  });

  it('loses the answers to some methods, with this probability, by its seed: the node did all it was asked', async () => {
    proxy.set({ kind: 'lose answers', methods: { send: 0.25 } });
    const run = async () => {
      const lost: number[] = [];
      for (let i = 0; i < 400; i++) {
        const heard = await ask('send', String(i)).then(
          () => true,
          () => false,
        );
        if (!heard) lost.push(i);
      }
      return lost;
    };
    const first = await run();
    expect(asked.map(({ body }) => JSON.parse(body).params[0])).toEqual(
      Array.from({ length: 400 }, (_, i) => String(i)),
    );
    expect(proxy.counted('send')).toEqual({ asked: 400, lost: first.length });
    expect(first.length).toBeGreaterThan(70);
    expect(first.length).toBeLessThan(130);
    for (let i = 0; i < 20; i++) expect(await ask('read')).toContain('read');

    await proxy.close();
    await pool.destroy();
    proxy = await startFaultProxy(`http://127.0.0.1:${port}`, 7);
    pool = new Pool(new URL(proxy.url).origin, { connections: 4 });
    proxy.set({ kind: 'lose answers', methods: { send: 0.25 } });
    expect(await run()).toEqual(first);
  });

  it('loses a batch when one of its calls is to be lost', async () => {
    proxy.set({ kind: 'lose answers', methods: { send: 1 } });
    const batch = JSON.stringify([{ method: 'read' }, { method: 'send' }]);
    await expect(pool.request({ method: 'POST', path: '/', body: batch })).rejects.toThrow();
    expect(asked.map(({ body }) => body)).toEqual([batch]);
  });
});

describe('the fault proxy before Postgres', () => {
  let database: TestDatabase;
  let truth: pg.Client;
  let postgres: FaultProxy;

  beforeEach(async () => {
    database = await testDatabase();
    truth = new pg.Client({ connectionString: database.adminUrl });
    await truth.connect();
    await truth.query('create table public.kept (what text)');
    postgres = await startFaultProxy(database.adminUrl, 3);
  });
  afterEach(async () => {
    await truth.end();
    await postgres.close();
    await database.drop();
  });

  const kept = async () =>
    (await truth.query<{ what: string }>('select what from public.kept order by what')).rows.map(
      ({ what }) => what,
    );

  async function connected(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: postgres.through(database.adminUrl) });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Of a connection that was cut there is nothing left to end. */
  async function lastOf(client: pg.Client, query: pg.QueryConfig): Promise<void> {
    try {
      await client.query(query);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async function inTransaction(what: string): Promise<void> {
    const client = await connected();
    await client.query('begin');
    await client.query({ name: 'keep', text: 'insert into public.kept values ($1)', values: [what] });
    await lastOf(client, { text: 'commit' });
  }

  async function alone(what: string): Promise<void> {
    const client = await connected();
    const insert = { name: 'keep', text: 'insert into public.kept values ($1)' };
    await lastOf(client, { ...insert, values: [what] });
  }

  it.each([
    ['a transaction', inTransaction],
    ['a statement by itself', alone],
  ])('cuts off %s before its commit, and after it', async (_what, keep) => {
    await keep('without a fault');
    postgres.set({ kind: 'cut commits', when: 'before', share: 1 });
    await expect(keep('before')).rejects.toThrow();
    expect(postgres.fired()).toBe(1);
    postgres.set({ kind: 'cut commits', when: 'after', share: 1 });
    await expect(keep('after')).rejects.toThrow();
    expect(postgres.fired()).toBe(1);
    expect(await kept()).toEqual(['after', 'without a fault']);
  });

  it('lets through what commits nothing, and the share that is left alone', async () => {
    postgres.set({ kind: 'cut commits', when: 'before', share: 1 });
    const client = await connected();
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await client.end();
    expect(postgres.fired()).toBe(0);
    postgres.set({ kind: 'cut commits', when: 'before', share: 0.5 });
    let failed = 0;
    for (let i = 0; i < 20; i++) await inTransaction(String(i)).catch(() => failed++);
    expect(failed).toBe(postgres.fired());
    expect(failed).toBeGreaterThan(3);
    expect(await kept()).toHaveLength(20 - failed);
  });
});
