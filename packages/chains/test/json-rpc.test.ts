import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { json } from 'node:stream/consumers';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { localPort } from '@quittance/testkit/local-port';
import { connectRpc, type Rpc, RpcRefused } from '../src/json-rpc.ts';

type Asked = { id: number; method: string };
type Handler = (request: IncomingMessage, response: ServerResponse, asked: Asked | Asked[]) => void;

let server: Server | undefined;
let rpc: Rpc | undefined;
afterEach(async () => {
  await rpc?.close();
  server?.closeAllConnections();
  server?.close();
});

/** A node that answers as a test tells it to. @returns its URL. */
async function nodeThat(handler: Handler): Promise<string> {
  server = createServer((request, response) => {
    void json(request).then((asked) => handler(request, response, asked as Asked | Asked[]));
  });
  return `http://127.0.0.1:${await localPort(server)}`;
}
function connectTo(url: string): Rpc {
  rpc = connectRpc(url);
  return rpc;
}
const connect = async (handler: Handler) => connectTo(await nodeThat(handler));

const says =
  (status: number, body: string): Handler =>
  (_request, response) =>
    response.writeHead(status).end(body);

const answer = (id: number, result: unknown) => ({ jsonrpc: '2.0', id, result });
const error = (id: number, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

/** Everything after which nobody can know what the node did. */
const failures: [string, Handler][] = [
  ['HTTP 503', says(503, 'upstream')],
  ['HTTP 429', says(429, JSON.stringify(error(0, -32_005, 'slow down')))],
  ['HTTP 502 with a result', says(502, JSON.stringify(answer(0, '0x1')))],
  ['HTTP 302', says(302, '')],
  ['no JSON', says(200, '<html>')],
  ['half an answer', says(200, '{"jsonrpc":"2.0","id":0,"resu')],
  ['no result', says(200, '{"jsonrpc":"2.0","id":0}')],
  ['null', says(200, 'null')],
  ['nothing', says(200, '')],
  ['a closed connection', (request) => request.socket.destroy()],
  [
    'half a body, and a closed connection',
    (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"jsonrpc"');
      setImmediate(() => response.destroy());
    },
  ],
  ['no end', (_request, response) => void response.writeHead(200).write('{')],
  ['silence', () => undefined],
];

describe('a call', () => {
  test('gives the result, and the refusal of the node', async () => {
    const node = await connect((_request, response, asked) => {
      const { id, method } = asked as Asked;
      response.end(JSON.stringify(method === 'good' ? answer(id, null) : error(id, 3, 'execution reverted')));
    });
    expect(await node.call('good', [])).toBeNull();
    await expect(node.call('bad', [])).rejects.toMatchObject({
      name: 'RpcRefused',
      code: 3,
      message: 'bad: execution reverted (3)',
    });
  });

  test('takes a refusal said with HTTP 400', async () => {
    const node = await connect(says(400, JSON.stringify(error(0, -32_000, 'nonce too low'))));
    await expect(node.call('x', [])).rejects.toMatchObject({ name: 'RpcRefused', code: -32_000 });
  });

  test.each(failures)('that meets %s has no answer, and is not repeated', async (_what, handler) => {
    let calls = 0;
    const node = await connect((...given) => {
      calls += 1;
      handler(...given);
    });
    await expect(node.call('eth_x', [], 300)).rejects.toMatchObject({ name: 'RpcUnavailable' });
    expect(calls).toBe(1);
  });

  test('is sent once, over a connection that is kept', async () => {
    let calls = 0;
    const sockets = new Set();
    const node = await connect((request, response) => {
      calls += 1;
      sockets.add(request.socket);
      response.end(JSON.stringify(answer(0, '0x1')));
    });
    for (let i = 0; i < 20; i++) await node.call('eth_x', []);
    expect(calls).toBe(20);
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  test('sends credentials as a header and names no secret of the URL in an error', async () => {
    let seen: (string | undefined)[] = [];
    const url = await nodeThat((request, response) => {
      seen = [request.headers.authorization, request.url];
      response.writeHead(500).end();
    });
    const rpc = connectTo(`${url.replace('//', '//us%40er:pass%2Fword@')}/v2/secret-key?token=secret-too`);
    const failure: unknown = await rpc.call('eth_x', []).catch((thrown: unknown) => thrown);
    expect(seen).toEqual([
      `Basic ${Buffer.from('us@er:pass/word').toString('base64')}`,
      '/v2/secret-key?token=secret-too',
    ]);
    expect(String(failure)).toBe('RpcUnavailable: eth_x: HTTP 500');
  });
});

describe('a batch', () => {
  test('puts the answers in the order of the calls, refusals as values', async () => {
    const node = await connect((_request, response, asked) => {
      const answers = (asked as Asked[]).map(({ id, method }) =>
        method === 'bad' ? error(id, -32_000, 'no') : answer(id, method),
      );
      response.end(JSON.stringify(answers.reverse()));
    });
    const [a, bad, b] = await node.batch(['a', 'bad', 'b'].map((method) => ({ method, params: [] })));
    expect([a, b]).toEqual(['a', 'b']);
    expect(bad).toBeInstanceOf(RpcRefused);
  });

  test('without calls asks nobody', async () => {
    const rpc = connectTo('http://127.0.0.1:1');
    expect(await rpc.batch([])).toEqual([]);
  });

  test('with an answer missing has no answer', async () => {
    const node = await connect((_request, response) => response.end(JSON.stringify([answer(0, '0x1')])));
    const calls = ['a', 'b'].map((method) => ({ method, params: [] }));
    await expect(node.batch(calls)).rejects.toMatchObject({
      name: 'RpcUnavailable',
      message: /b: no answer/,
    });
  });

  test('refused as a whole is refused', async () => {
    const node = await connect(says(200, JSON.stringify(error(0, -32_600, 'batch too large'))));
    await expect(node.batch([{ method: 'a', params: [] }])).rejects.toMatchObject({ name: 'RpcRefused' });
  });
});

describe('a node that is asked too much', () => {
  const busy =
    (status: number, retryAfter: string, asked: string[]): Handler =>
    (_request, response, one) => {
      asked.push((one as Asked).method);
      response.writeHead(status, { 'retry-after': retryAfter }).end('slow down');
    };

  test.each([
    [429, '60'],
    [503, '60'],
    [429, new Date(Date.now() + 60_000).toUTCString()],
  ])('and answers %d with Retry-After %s is not asked again before', async (status, retryAfter) => {
    const asked: string[] = [];
    const node = await connect(busy(status, retryAfter, asked));
    await expect(node.call('first', [])).rejects.toThrow(`HTTP ${status}`);
    for (let i = 0; i < 3; i++) {
      await expect(node.call('later', [])).rejects.toMatchObject({
        name: 'RpcUnavailable',
        message: expect.stringMatching(/^later: not asked, the node wants a pause of \d+ s more$/),
      });
    }
    expect(asked).toEqual(['first']);
  });

  test('is asked no earlier because a later answer names a shorter pause or none', async () => {
    const waiting = new Map<string, ServerResponse>();
    const node = await connect(
      (_request, response, asked) => void waiting.set((asked as Asked).method, response),
    );
    const calls = ['first', 'shorter', 'none'].map((method) => [method, node.call(method, [])] as const);
    await eventually(() => expect(waiting.size).toBe(3));
    const pauses: Record<string, OutgoingHttpHeaders> = {
      first: { 'retry-after': '60' },
      shorter: { 'retry-after': '1' },
      none: {},
    };
    for (const [method, call] of calls) {
      waiting.get(method)?.writeHead(429, pauses[method]).end();
      await expect(call).rejects.toThrow('HTTP 429');
    }
    await expect(node.call('later', [])).rejects.toThrow(
      /^later: not asked, the node wants a pause of (59|60) s more$/,
    );
    expect(waiting.has('later')).toBe(false);
  });

  test('is asked again when its pause is over, and at once when it names none', async () => {
    let answers = 0;
    const node = await connect((_request, response, asked) => {
      answers += 1;
      if (answers === 1) return void response.writeHead(429, { 'retry-after': '1' }).end();
      if (answers === 2) return void response.writeHead(429).end();
      response.end(JSON.stringify(answer((asked as Asked).id, '0x1')));
    });
    await expect(node.call('a', [])).rejects.toThrow('HTTP 429');
    await eventually(() => expect(node.call('a', [])).rejects.toThrow('HTTP 429'));
    expect(answers).toBe(2);
    expect(await node.call('a', [])).toBe('0x1');
  });
});

describe('a compressed answer', () => {
  const text = JSON.stringify(answer(0, '0x'.padEnd(100_000, 'ab')));

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('in %s is asked for and read', async (encoding, compress) => {
    let accepted: unknown;
    let sent = 0;
    const node = await connect((request, response) => {
      accepted = request.headers['accept-encoding'];
      const bytes = compress(text);
      sent = bytes.length;
      response.writeHead(200, { 'content-encoding': encoding }).end(bytes);
    });
    expect(await node.call('eth_getBlockByNumber', [])).toHaveLength(100_000);
    expect(accepted).toContain(encoding);
    expect(sent).toBeLessThan(text.length / 20);
  });

  test.each([
    [
      'larger than an answer may be, though not on the way',
      'gzip',
      gzipSync(text.padEnd(128 * 1024 * 1024 + 1)),
    ],
    ['cut off', 'gzip', gzipSync(text).subarray(0, 100)],
    ['not compressed at all', 'gzip', Buffer.from(text)],
    ['in an encoding that was not asked for', 'compress', gzipSync(text)],
  ])('that is %s is none', async (_what, encoding, bytes) => {
    expect(bytes.length).toBeLessThan(200_000);
    const node = await connect((_request, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(bytes),
    );
    await expect(node.call('a', [])).rejects.toMatchObject({ name: 'RpcUnavailable' });
  });
});
