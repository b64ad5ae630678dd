import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Pool } from 'undici';
import { type FaultProxy, startFaultProxy } from '../src/fault-proxy.ts';

const PATIENCE_MS = 5_000;

/** A node that remembers what it was asked and answers with that. */
let node: Server;
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
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  proxy = await startFaultProxy(`http://me:secret@127.0.0.1:${(node.address() as AddressInfo).port}/v1`, 7);
  pool = new Pool(new URL(proxy.url).origin, { connections: 4 });
});
afterEach(async () => {
  await pool.destroy();
  await proxy.close();
  node.closeAllConnections();
  await new Promise((resolve) => node.close(resolve));
});

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
    proxy = await startFaultProxy(`http://127.0.0.1:${(node.address() as AddressInfo).port}`, 7);
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
