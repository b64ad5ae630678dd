import { ConnectionError, type ErrorDetails, errorClassOf, QuittanceError } from './errors.ts';
import { NOT_CONNECTED, retryDelayMs } from './retry.ts';
import { type Limit, limit, sleep } from './waiting.ts';

export const VERSION = '0.1.0';

export type ClientOptions = {
  /** Where Quittance answers: `https://pay.example.com`. */
  url: string;
  /** An API token of the account. It stays on your server: never send it to a browser. */
  token?: string | undefined;
  /** In place of a token: the person who has signed in, in a page that Quittance itself serves. The browser sends the cookie. */
  session?: true;
  /**
   * The account that the requests are meant for, such as the one that a page shows. Where token or session is of another account,
   * nothing is done, and the error is a `ConflictError` with the code `other_account`.
   */
  account?: string | undefined;
  /** Milliseconds until an attempt is given up. 30 000 when not given. */
  timeoutMs?: number | undefined;
  /** How often a request is sent again at most. 4 when not given. */
  maxRetries?: number | undefined;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** The name of your software, which joins the User-Agent: `my-shop/1.2`. */
  userAgent?: string | undefined;
};

/** What one request may have of its own. */
export type RequestOptions = {
  /** A text of at most 255 characters in place of a random one. It names the order, so that a restarted program repeats it safely. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
};

type QueryValue = string | number | boolean | Date | readonly string[] | null | undefined;

export type Call = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Made by `path`. */
  path: string;
  query?: object | undefined;
  /** A text is sent as it is, anything else as JSON. */
  body?: unknown;
  contentType?: string;
  accept?: string;
  /** Whether the API takes an Idempotency-Key here. */
  takesKey?: boolean;
  options?: RequestOptions | undefined;
};

/** Sends requests, and repeats those that may be repeated. */
export class Transport {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;

  constructor(options: ClientOptions) {
    this.#base = baseOf(options.url);
    this.#headers = { ...(options.session === true ? {} : headersOf(options)), ...accountOf(options) };
    if (options.session === true && options.token !== undefined)
      throw new TypeError('token and session are both given: a request is that of one of them');
    this.#fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#maxRetries = options.maxRetries ?? 4;
  }

  /** The JSON of the answer. */
  json<T>(call: Call): Promise<T> {
    return this.#send(call, async (response) => {
      const text = await response.text();
      return parse<T>(text) ?? noJson(response, text);
    });
  }

  /** The member `data` of the answer, in which the API wraps most resources. */
  async data<T>(call: Call): Promise<T> {
    return (await this.json<{ data: T }>(call)).data;
  }

  /** The text of the answer. */
  text(call: Call): Promise<string> {
    return this.#send(call, (response) => response.text());
  }

  /** The body of the answer as it arrives. The timeout ends with its headers; `signal` ends it at any time. */
  stream(call: Call): Promise<ReadableStream<Uint8Array>> {
    return this.#send(call, async (response, attempt) => {
      const body = response.body ?? noJson(response, '');
      attempt.goOn();
      return body.pipeThrough(new TransformStream({ flush: () => attempt.end() }));
    });
  }

  async #send<T>(call: Call, read: (response: Response, attempt: Limit) => Promise<T>): Promise<T> {
    const { signal, maxRetries = this.#maxRetries, idempotencyKey } = call.options ?? {};
    const key = call.takesKey === true ? keyOf(idempotencyKey) : undefined;
    const isRepeatable = call.method !== 'POST' || key !== undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(call, key, read);
      } catch (error) {
        if (!(error instanceof QuittanceError) || attempt > maxRetries) throw error;
        const delay = retryDelayMs(error, isRepeatable, attempt, Math.random());
        if (delay === undefined) throw error;
        await sleep(delay, signal);
      }
    }
  }

  async #attempt<T>(
    call: Call,
    key: string | undefined,
    read: (response: Response, attempt: Limit) => Promise<T>,
  ): Promise<T> {
    const { signal, timeoutMs = this.#timeoutMs } = call.options ?? {};
    signal?.throwIfAborted();
    const attempt = limit(timeoutMs, signal);
    try {
      const response = await this.#fetch(this.#base + call.path + queryOf(call.query), {
        ...requestOf(call, { ...this.#headers, ...(key === undefined ? {} : { 'Idempotency-Key': key }) }),
        signal: attempt.signal,
      });
      if (!response.ok) throw errorOf(response, await response.text(), key);
      return await read(response, attempt);
    } catch (cause) {
      if (cause instanceof QuittanceError) throw cause;
      signal?.throwIfAborted();
      throw connectionError(cause, attempt.isOver() ? timeoutMs : undefined, this.#base, key);
    } finally {
      if (!attempt.goesOn()) attempt.end();
    }
  }
}

function headersOf({ token, userAgent }: ClientOptions) {
  if (typeof token !== 'string' || token === '')
    throw new TypeError('token is missing: give { url, token } with an API token of the account');
  // Without the token: an error is often logged.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new TypeError('token has a space, a line end or another character that no API token has');
  return {
    Authorization: `Bearer ${token}`,
    'User-Agent': [userAgent, `quittance-client/${VERSION}`].filter(Boolean).join(' '),
  };
}

function accountOf({ account }: ClientOptions): Record<string, string> {
  if (account === undefined) return {};
  if (typeof account !== 'string' || !/^acc_\w+$/.test(account))
    throw new TypeError(
      'account must be the id of an account, such as acc_01j…: leave it out for that of the token',
    );
  return { 'Quittance-Account': account };
}

/** The text of an Idempotency-Key, whose spaces at the ends would not arrive. An empty one would count as none. */
function keyOf(given: string | undefined): string {
  if (given === undefined) return crypto.randomUUID();
  if (typeof given === 'string' && /^(?=.{1,255}$)[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(given))
    return given;
  throw new TypeError(
    'idempotencyKey must have 1 to 255 printable ASCII characters, without a space at its begin or end: leave it out for a random one',
  );
}

/** A path with what stands in it encoded, so that an id never leads to another path. */
export function path(parts: TemplateStringsArray, ...ids: readonly (string | number)[]): string {
  return parts.reduce((before, part, place) => {
    const id = String(ids[place - 1] ?? '');
    if (/^\.{0,2}$/.test(id)) throw new TypeError(`${JSON.stringify(id)} is no id`);
    return before + encodeURIComponent(id) + part;
  });
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new TypeError(
      `url is ${JSON.stringify(url)}: give { url, token } with a URL such as https://pay.example.com`,
    );
  if (parsed.username !== '' || parsed.password !== '')
    throw new TypeError('url has a user name or a password: give a URL such as https://pay.example.com');
  return parsed.origin + parsed.pathname.replace(/\/+(?:api\/*)?$/, '');
}

function queryOf(query: object | undefined): string {
  const given = Object.entries((query ?? {}) as Record<string, QueryValue>).flatMap(
    ([name, value]): [string, string][] => {
      if (value === undefined || value === null) return [];
      return [[name, value instanceof Date ? value.toISOString() : String(value)]];
    },
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

function requestOf(
  { method, body, contentType, accept = 'application/json' }: Call,
  headers: Record<string, string>,
) {
  const sent: Record<string, string> =
    body === undefined ? {} : { 'Content-Type': contentType ?? 'application/json' };
  return {
    method,
    headers: { ...headers, Accept: accept, ...sent },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    // A redirect could lead the token elsewhere, and would make a GET of a POST.
    redirect: 'manual' as const,
  };
}

function parse<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

function noJson(response: Response, text: string): never {
  throw new QuittanceError(`The answer is no JSON: ${text.slice(0, 80)}`, {
    status: response.status,
    hint: 'Check the url: the API of Quittance must answer there.',
  });
}

type ErrorBody = {
  message?: string;
  code?: string;
  hint?: string;
  errors?: Record<string, string[]>;
  request_id?: string;
  doc_url?: string;
};

function errorOf({ status, headers }: Response, text: string, key: string | undefined): QuittanceError {
  const body = parse<ErrorBody>(text) ?? {};
  const details: ErrorDetails = {
    status,
    code: body.code ?? headers.get('X-Error-Code') ?? (status === 401 ? 'unauthenticated' : undefined),
    hint: body.hint ?? hintOf(status, headers),
    errors: body.errors,
    requestId: body.request_id ?? headers.get('X-Request-Id') ?? undefined,
    docUrl: body.doc_url,
    retryAfterSeconds: secondsOf(headers.get('Retry-After')),
    idempotencyKey: key,
  };
  const ErrorClass = errorClassOf(status);
  return new ErrorClass(body.message ?? `The API answered with the status ${status}.`, details);
}

function hintOf(status: number, headers: Headers): string | undefined {
  // A browser hides where a redirect leads, and its status too.
  if (status < 400) return `It does not redirect: check the url. ${headers.get('Location') ?? ''}`.trim();
  return /error_description="([^"]*)"/.exec(headers.get('WWW-Authenticate') ?? '')?.[1];
}

/** `Retry-After` is seconds or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  // eslint-disable-next-line no-restricted-syntax -- seconds
  const seconds = /^\d+$/.test(header) ? Number.parseInt(header, 10) : secondsUntil(header);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

const secondsUntil = (date: string): number => (Date.parse(date) - Date.now()) / 1_000;

/** What Node says of a connection that was never made. Other failures are so when they come of `connect`, and not of `write`. */
const neverConnected = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/;

function connectionError(
  cause: unknown,
  timedOutMs: number | undefined,
  url: string,
  key: string | undefined,
) {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : undefined;
  const code = inner !== undefined && 'code' in inner ? String(inner.code) : '';
  const what = inner?.message || code || String(cause);
  const isUnmade =
    neverConnected.test(code) || (inner !== undefined && 'syscall' in inner && inner.syscall === 'connect');
  return new ConnectionError(
    timedOutMs === undefined
      ? `No answer of ${url}: ${what}.`
      : `No answer of ${url} within ${timedOutMs} ms.`,
    {
      code: timedOutMs !== undefined ? 'timed_out' : isUnmade ? NOT_CONNECTED : 'broken_off',
      idempotencyKey: key,
      cause,
    },
  );
}
