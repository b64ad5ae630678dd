import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { ExactNumber } from '@quittance/shared/exact-json';
import { reason } from '@quittance/shared/logger';
import { Pool } from 'undici';
import { z } from 'zod';
import type { Broadcast } from './chain.ts';

const CONNECTIONS_MAX = 8;
const CONNECT_TIMEOUT_MS = 5_000;
const CALL_TIMEOUT_MS = 10_000;
/** A full block with its receipts is a few megabytes, its traces some ten times that. Compressed or not. */
const RESPONSE_BYTES_MAX = 128 * 1024 * 1024;

/** A node that asks for a longer pause is asked again after this one. */
const REST_MS_MAX = 60_000;

/** How answers may be compressed, and what undoes it: blocks are text that repeats itself. */
const decoders: ReadonlyMap<string, (bytes: Buffer, limit: { maxOutputLength: number }) => Promise<Buffer>> =
  new Map([
    ['gzip', promisify(gunzip)],
    ['br', promisify(brotliDecompress)],
  ]);

export type Call = { method: string; params: readonly unknown[] };

/**
 * `exact`: numbers that are not written as whole ones come as their source text (ExactNumber), because no double may
 * stand between a node that writes amounts with a point, as Bitcoin Core does, and us.
 */
export type Numbers = 'doubles' | 'exact';

/**
 * JSON-RPC over kept-alive connections. Every call has a limit of time and size and is sent once; the caller decides about
 * a retry. A node that answered with Retry-After is not asked before that time.
 */
export type Rpc = {
  call(method: string, params: readonly unknown[], timeoutMs?: number, numbers?: Numbers): Promise<unknown>;
  /** In one request. The answers are in the order of the calls; a refused one is its RpcRefused, which `read` throws. */
  batch(calls: readonly Call[], timeoutMs?: number, numbers?: Numbers): Promise<unknown[]>;
  close(): Promise<void>;
};

/** The node understood the call and said no. */
export class RpcRefused extends Error {
  readonly code: number;

  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message} (${code})`);
    this.name = 'RpcRefused';
    this.code = code;
  }
}

/** No answer, or none that can be understood: whether the node did what was asked is not known. */
export class RpcUnavailable extends Error {
  constructor(method: string, what: string) {
    super(`${method}: ${what}`);
    this.name = 'RpcUnavailable';
  }
}

const answerSchema = z.object({
  id: z.number().nullish(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
type RpcAnswer = z.infer<typeof answerSchema>;

/** Credentials in the URL go into the Authorization header. No error names the URL: its path may hold a key. */
export function connectRpc(url: string): Rpc {
  const { origin, pathname, search, username, password } = new URL(url);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': [...decoders.keys()].join(', '),
    ...(username === '' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
  };
  const pool = new Pool(origin, {
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    maxResponseSize: RESPONSE_BYTES_MAX,
    // The signal of each request limits the whole of it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  let restsUntil = Number.NEGATIVE_INFINITY;

  async function post(body: unknown, what: string, timeoutMs: number, numbers?: Numbers): Promise<unknown> {
    const restMs = restsUntil - performance.now();
    if (restMs > 0) {
      throw new RpcUnavailable(
        what,
        `not asked, the node wants a pause of ${Math.ceil(restMs / 1_000)} s more`,
      );
    }
    let status: number;
    let text: string;
    try {
      const response = await pool.request({
        method: 'POST',
        path: pathname + search,
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      status = response.statusCode;
      const { 'retry-after': retryAfter, 'content-encoding': encoding } = response.headers;
      if (status === 429 || status === 503) {
        // The machine's time may be set back, and another answer may name a shorter pause or none.
        restsUntil = Math.max(restsUntil, performance.now() + restOf(retryAfter, Date.now()));
      }
      text = await decoded(Buffer.from(await response.body.arrayBuffer()), encoding);
    } catch (error) {
      throw new RpcUnavailable(what, reason(error));
    }
    // Some nodes say 400 with an ordinary JSON-RPC error; any other status comes from something in between.
    if (status !== 200 && status !== 400) throw new RpcUnavailable(what, `HTTP ${status}`);
    try {
      return numbers === 'exact' ? JSON.parse(text, exactly) : JSON.parse(text);
    } catch {
      throw new RpcUnavailable(what, `HTTP ${status}, and the answer is not JSON`);
    }
  }

  return {
    async call(method, params, timeoutMs = CALL_TIMEOUT_MS, numbers) {
      const given = await post({ jsonrpc: '2.0', id: 0, method, params }, method, timeoutMs, numbers);
      const answer = outcome(method, read(answerSchema, given, method));
      if (answer instanceof RpcRefused) throw answer;
      return answer;
    },

    async batch(calls, timeoutMs = CALL_TIMEOUT_MS, numbers) {
      if (calls.length === 0) return [];
      const what = [...new Set(calls.map((call) => call.method))].join(', ');
      const given = await post(
        calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })),
        what,
        timeoutMs,
        numbers,
      );
      // A node that refuses the batch as a whole answers with a single error.
      if (!Array.isArray(given)) {
        const refusal = outcome(what, read(answerSchema, given, what));
        throw refusal instanceof RpcRefused ? refusal : new RpcUnavailable(what, 'one answer to a batch');
      }
      const byId = new Map(read(z.array(answerSchema), given, what).map((answer) => [answer.id, answer]));
      return calls.map(({ method }, id) => {
        const answer = byId.get(id);
        if (answer === undefined) throw new RpcUnavailable(method, 'no answer in the batch');
        return outcome(method, answer);
      });
    },

    close: () => pool.close(),
  };
}

/** How long a Retry-After asks to wait: seconds or a date, in milliseconds. */
function restOf(retryAfter: string | string[] | undefined, now: number): number {
  if (typeof retryAfter !== 'string') return 0;
  // eslint-disable-next-line no-restricted-syntax -- seconds
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - now;
  return ms > 0 ? Math.min(ms, REST_MS_MAX) : 0;
}

/** A few bytes may stand for gigabytes, so what comes out has a limit of its own. */
async function decoded(bytes: Buffer, encoding: string | string[] | undefined): Promise<string> {
  if (encoding === undefined || encoding === 'identity' || bytes.length === 0) return bytes.toString();
  const decode = typeof encoding === 'string' ? decoders.get(encoding.toLowerCase()) : undefined;
  if (decode === undefined)
    throw new Error(`an answer in an encoding that was not asked for: ${String(encoding)}`);
  return (await decode(bytes, { maxOutputLength: RESPONSE_BYTES_MAX })).toString();
}

function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const source = context?.source ?? String(value);
  return Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? value : new ExactNumber(source);
}

function outcome(method: string, { result, error }: RpcAnswer): unknown {
  if (error !== undefined) return new RpcRefused(method, error.code, error.message);
  if (result === undefined) throw new RpcUnavailable(method, 'neither result nor error');
  return result;
}

/** Checks the form of an answer: one that cannot be understood is as good as none. Throws a refusal. */
export function read<T extends z.ZodType>(schema: T, answer: unknown, method: string): z.infer<T> {
  if (answer instanceof RpcRefused) throw answer;
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RpcUnavailable(
    method,
    `an answer of unknown form (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`,
  );
}

/** One call, and its answer in the form that is expected. */
export async function ask<T extends z.ZodType>(
  rpc: Rpc,
  form: T,
  ...[method, ...given]: Parameters<Rpc['call']>
): Promise<z.infer<T>> {
  return read(form, await rpc.call(method, ...given), method);
}

/** One call about each of many things, in requests of at most `atOnce`. Each answer comes with what it is about, in order. */
export async function* askEach<I>(
  rpc: Rpc,
  items: readonly I[],
  callFor: (item: I) => Call,
  { atOnce, timeoutMs, numbers }: { atOnce: number; timeoutMs?: number; numbers?: Numbers },
): AsyncGenerator<[item: I, answer: unknown]> {
  for (let start = 0; start < items.length; start += atOnce) {
    const some = items.slice(start, start + atOnce);
    const answers = await rpc.batch(some.map(callFor), timeoutMs, numbers);
    for (const [i, item] of some.entries()) yield [item, answers[i]];
  }
}

/** How the nodes of a chain answer a transaction, and how one is looked up. */
type BroadcastOf = {
  txHash: string;
  /** Sends the transaction. Resolves to the hash that the node answers. */
  send: () => Promise<string>;
  isKnown: () => Promise<boolean>;
  /** Codes with which nodes refuse the transaction, not codes of their own failures. */
  refusals: ReadonlySet<number>;
  /** How nodes answer that they have the transaction already. */
  saysKnown?: (refusal: RpcRefused) => boolean;
};

/**
 * Sends a transaction whose hash is known. A node also refuses a transaction that it has or that is mined (with "nonce too low"
 * or "inputs missing", say), so a refusal counts only when the node does not know the transaction.
 */
export async function broadcastOnce(given: BroadcastOf): Promise<Broadcast> {
  try {
    return (await given.send()) === given.txHash ? 'accepted' : 'unknown';
  } catch (error) {
    if (!(error instanceof RpcRefused)) return 'unknown';
    if (given.saysKnown?.(error) === true) return 'accepted';
    // Without an answer nothing is known of the transaction: the status of a later round decides.
    const known = await given.isKnown().catch(() => undefined);
    if (known === undefined) return 'unknown';
    if (known) return 'accepted';
    return given.refusals.has(error.code) ? 'rejected' : 'unknown';
  }
}
