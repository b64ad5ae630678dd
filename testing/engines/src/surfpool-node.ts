import { createHash, randomUUID } from 'node:crypto';
import { Agent, createServer as createHttpServer, type IncomingMessage, request } from 'node:http';
import { createRequire } from 'node:module';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/*
 * A process of its own around the native library, which is a node and a wallet in one: so a crash of it, or the many
 * threads it starts, are not those of the sandbox or of a test. It chooses its ports itself, so those that were asked
 * for are served here and handed through.
 */

type Config = { packageName: string; port: number; wsPort: number; slotMs: number; payerSecretKey: number[] };

/** As much as the library's own documentation and its declarations say of it. */
type Surfnet = {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  drainEvents(): unknown[];
  timeTravelToSlot(slot: number): unknown;
  stop(): void;
};
type Library = {
  Surfnet: {
    startWithConfig(config: {
      offline: boolean;
      blockProductionMode: 'clock';
      slotTimeMs: number;
      airdropSol: number;
      payerSecretKey: number[];
    }): Surfnet;
  };
};

/** 100,000 SOL; the library has a limit not far above. */
const PAYER_LAMPORTS = 1e14;
/** What it keeps of events in memory grows while nobody takes them. */
const DRAIN_EVERY_MS = 1_000;
/** A block is finalized this many slots after it was made; a node younger than that has none. */
const SLOTS_TO_FINALITY = 32;
const BODY_BYTES_MAX = 1024 * 1024;
const IDLE_MS = 60 * 60_000;
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

const config = JSON.parse(process.argv[2] ?? '{}') as Config;
const { Surfnet } = createRequire(import.meta.url)(config.packageName) as Library;
const node = Surfnet.startWithConfig({
  offline: true,
  blockProductionMode: 'clock',
  slotTimeMs: config.slotMs,
  airdropSol: PAYER_LAMPORTS,
  payerSecretKey: config.payerSecretKey,
});
const agent = new Agent({ keepAlive: true });

function forward(body: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(node.rpcUrl, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    });
    // The library closed the idle connection just then. Whatever is asked twice here does the same once.
    asked.once('error', (error: NodeJS.ErrnoException) =>
      asked.reusedSocket && error.code === 'ECONNRESET' ? resolve(forward(body)) : reject(error),
    );
    asked.once('response', (answer: IncomingMessage) => {
      text(answer).then((given) => resolve({ status: answer.statusCode ?? 502, body: given }), reject);
    });
    asked.end(body);
  });
}

async function ask<T>(method: string, params: readonly unknown[] = []): Promise<T> {
  const { body } = await forward(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  return (JSON.parse(body) as { result: T }).result;
}

/** The first block can be finalized at once when the clock is moved on; what that adds to its time is taken off. */
async function skipTheFirstSlots(): Promise<number> {
  const slot = await ask<number>('getSlot', [{ commitment: 'processed' }]);
  node.timeTravelToSlot(slot + SLOTS_TO_FINALITY);
  return SLOTS_TO_FINALITY * config.slotMs;
}

const aheadMs = await skipTheFirstSlots();
const chainName = randomUUID();

/**
 * The library names a block with transactions by another counter than an empty one, so that its blocks do not follow
 * each other, and gives its time in thousands of seconds. Real nodes do neither, so neither does this one. A slot has a
 * block always, and its name is that of this chain: a new start is a new chain.
 */
async function mendBlock(answer: string, slot: number): Promise<string> {
  if (!answer.includes('"blockhash":')) return answer;
  const time = await ask<number>('getBlockTime', [slot]);
  // All four come before the transactions.
  return answer
    .replace(/"blockhash":"[^"]*"/, `"blockhash":"${blockHash(slot)}"`)
    .replace(/"previousBlockhash":"[^"]*"/, `"previousBlockhash":"${blockHash(slot - 1)}"`)
    .replace(/"parentSlot":\d+/, `"parentSlot":${slot - 1}`)
    .replace(/"blockTime":\d+/, `"blockTime":${Math.floor(time - aheadMs / 1000)}`);
}

function blockHash(slot: number): string {
  const digest = createHash('sha256').update(`${chainName} ${slot}`).digest('hex');
  let rest = BigInt(`0x${digest}`);
  let name = '';
  while (rest > 0n) {
    // eslint-disable-next-line no-restricted-syntax -- a digit
    name = BASE58[Number(rest % 58n)] + name;
    rest /= 58n;
  }
  return name;
}

async function serve(body: string): Promise<{ status: number; body: string }> {
  const answer = await forward(body);
  if (!body.includes('"getBlock"')) return answer;
  const { method, params } = JSON.parse(body) as { method: string; params: [number] };
  return method === 'getBlock' ? { ...answer, body: await mendBlock(answer.body, params[0]) } : answer;
}

const http = createHttpServer((asked, answer) => {
  const fail = (error: unknown) => {
    answer.writeHead(502, { 'content-type': 'text/plain' }).end(String(error));
  };
  // eslint-disable-next-line no-restricted-syntax -- a length
  if (Number(asked.headers['content-length'] ?? 0) > BODY_BYTES_MAX) return fail('too long');
  text(asked)
    .then(serve)
    .then(({ status, body }) => {
      answer.writeHead(status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      answer.end(body);
    })
    .catch(fail);
});
// Node closes what has been idle for six seconds just when a busy machine's client asks again.
http.keepAliveTimeout = IDLE_MS;
http.listen(config.port, '127.0.0.1');

const wsTarget = new URL(node.wsUrl);
const websocket = createServer((client: Socket) => {
  // eslint-disable-next-line no-restricted-syntax -- a port
  const upstream = connect(Number(wsTarget.port), wsTarget.hostname);
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.pipe(to);
    from.once('error', () => to.destroy());
    from.once('close', () => to.destroy());
  }
});
websocket.listen(config.wsPort, '127.0.0.1');

setInterval(() => node.drainEvents(), DRAIN_EVERY_MS);
process.once('SIGTERM', () => {
  node.stop();
  process.exit(0);
});
