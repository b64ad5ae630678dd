import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { type Clock, sleep } from './clock.ts';
import { isDatabaseDown } from './db.ts';
import { type ExactJson, parseExactJson } from './exact-json.ts';
import { IDENTITY_HEADER, type Identity, openIdentity } from './identity.ts';
import { newRequestId } from './ids.ts';
import { type Logger, reason } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { readQuery } from './query.ts';
import { remembered } from './readiness.ts';
import type { Secret } from './secret.ts';
import { whyNotListening } from './start-refusal.ts';
import type { FieldErrors } from './validation.ts';

export const BODY_BYTES_MAX = 64 * 1024;
const RETRY_AFTER_SECONDS = 2;

/** An answer as it goes over the wire. */
export type Answer = { status: number; body: object; headers?: Readonly<Record<string, string>> };

const said = (status: number, message: string, headers?: Record<string, string>): Answer =>
  headers ? { status, body: { message }, headers } : { status, body: { message } };

/** Every answer that is not the wanted one, once, in the words of the contract. */
export const answers = {
  badRequest: said(400, 'Bad Request'),
  unauthenticated: said(401, 'Unauthenticated.'),
  unauthorized: said(403, 'This action is unauthorized.'),
  timeout: said(408, 'Request Timeout', { Connection: 'close' }),
  tooLarge: said(413, 'The body must not be greater than 64 kilobytes.'),
  compressed: said(415, 'The body must not be compressed.'),
  expectation: said(417, 'Only "100-continue" can be expected.'),
  insufficientBalance: said(400, 'Insufficient balance'),
  stillRunning: said(409, 'The first request with this Idempotency-Key is still running.', {
    'Retry-After': '1',
  }),
  /** Of unresolved money, of which something else has become. */
  alreadyResolved: (how: 'accepted' | 'returned' | 'reversed') =>
    said(409, `These funds were already ${how}.`),
  /** Not as things stand: the message says what to do. */
  conflict: (message: string) => said(409, message),
  unavailable: said(503, 'Service Unavailable', { 'Retry-After': String(RETRY_AFTER_SECONDS) }),
  serverError: said(500, 'Server Error'),
  noModel: (model: string) => said(404, `No query results for model [${model}].`),
  noRoute: (path: string) => said(404, `The route ${path} could not be found.`),
  wrongVerb: (verb: string, allowed: readonly string[]) =>
    said(
      405,
      `The ${verb} method is not supported for this route. Supported methods: ${allowed.join(', ')}.`,
      {
        Allow: allowed.join(', '),
      },
    ),
  invalid: (errors: FieldErrors): Answer => ({
    status: 422,
    body: { message: 'The given data was invalid.', errors },
  }),
} as const;

/** Thrown where nothing was done because something needed is away: the client may come back. */
export class Unavailable extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'Unavailable';
  }
}

/** What a request carries through a service. */
export type RequestContext = {
  requestId: string;
  identity: Identity;
  /** The body as it came: what is signed or compared by its bytes. */
  rawBody: Buffer;
  body: ExactJson | undefined;
  /** The pattern of its route, where express does not know it. */
  route: string;
};

const context = (res: Response): Partial<RequestContext> => res.locals;

const noBytes = Buffer.alloc(0);

export function contextOf(res: Response): Omit<RequestContext, 'route'> {
  const { requestId = '', identity, rawBody = noBytes, body } = context(res);
  // Routes behind `authenticated` always have one; anything else is a route that forgot it.
  if (identity === undefined) throw new Error('this route does not know whose request it is');
  return { requestId, identity, rawBody, body };
}

export function send(res: ServerResponse, { status, body, headers }: Answer): void {
  const text = JSON.stringify(body);
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.statusCode = status;
  res.end(res.req.method === 'HEAD' ? undefined : text);
}

export type HttpParts = {
  logger: Logger;
  clock: Clock;
  /** What the service waits for before it can serve; empty when it is ready. */
  waitsFor: () => Promise<string[]>;
  /** What is out of service while the rest is ready: said by `/readyz`, which stays 200. */
  without?: () => string[] | Promise<string[]>;
  /** What works and should be looked at all the same: said by `/readyz`. */
  warnings?: () => string[];
  /** Clients call it directly: the ids they give their requests are not taken over. */
  atTheEdge?: boolean;
  /** Query parameters that may be given several times; of any other, the last one counts. */
  lists?: readonly string[];
  /** JSON unless given. */
  tell?: Tell;
  /** Requests are counted there; shown at `/metrics` unless clients call it directly. */
  metrics?: Metrics;
};

/**
 * Answers hold what is one merchant's own: no cache on the way keeps one, and no browser takes it for something else than it
 * says it is. What has a policy of its own, as pages have, sets it later.
 */
const privateAnswer = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

function makePrivate(res: ServerResponse): void {
  for (const [name, value] of Object.entries(privateAnswer)) res.setHeader(name, value);
}

/** How an answer of the server's own goes out. */
export type Tell = (res: ServerResponse, answer: Answer) => void;

/** An express app with the answers every service gives: request ids, health, errors. */
export function createApp({
  logger,
  clock,
  waitsFor,
  without = () => [],
  warnings = () => [],
  atTheEdge = false,
  lists = [],
  tell = send,
  metrics,
}: HttpParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // As the gateway finds them: in other letters a path is another one, not a stream that the gateway takes for an id.
  app.set('case sensitive routing', true);
  app.set('query parser', (text: string) => readQuery(text, lists));
  app.use((req, res, next) => {
    noteRequest({ logger, metrics }, req, res);
    const given = atTheEdge ? undefined : req.headers['x-request-id'];
    const id = typeof given === 'string' && /^[\w-]{1,64}$/.test(given) ? given : newRequestId(clock.now());
    context(res).requestId = id;
    res.setHeader('X-Request-Id', id);
    makePrivate(res);
    // HTTP/1.1 asks for the refusal; Node's own comes without the message that every error of ours has.
    if (req.headers.host === undefined && req.httpVersion === '1.1') tell(res, answers.badRequest);
    else next();
  });
  const lately = remembered(async () => ({ waiting: await waitsFor(), missing: await without() }));
  app.get('/healthz', (_req, res) => send(res, { status: 200, body: { status: 'ok' } }));
  app.get('/readyz', async (_req, res) => {
    const { waiting, missing } = await lately();
    const warned = warnings();
    send(res, {
      status: waiting.length === 0 ? 200 : 503,
      body: {
        ready: waiting.length === 0,
        waits_for: waiting,
        ...(missing.length === 0 ? {} : { without: missing }),
        ...(warned.length === 0 ? {} : { warnings: warned }),
      },
    });
  });
  if (metrics !== undefined && !atTheEdge) {
    app.get('/metrics', async (_req, res) => {
      const text = await metrics.text();
      res.setHeader('Content-Type', metrics.contentType);
      res.end(text);
    });
  }
  return app;
}

/** Names the route of a request in an app that finds its routes itself: what it is counted under. */
export function nameRoute(res: Response, pattern: string): void {
  context(res).route = pattern;
}

/** A path may be anything, and names things of clients: only what routes and methods there are is counted by. */
const NONE = 'none';
const methodsKnown = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Asked every few seconds by machines: nobody looks for these in a log. */
const routesOfMachines: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

function noteRequest(
  { logger, metrics }: { logger: Logger; metrics: Metrics | undefined },
  req: Request,
  res: Response,
): void {
  const beganMs = performance.now();
  res.on('close', () => {
    const found = context(res).route ?? (req.route as { path?: unknown } | undefined)?.path;
    const route = typeof found === 'string' ? found : NONE;
    const ms = performance.now() - beganMs;
    const labels = {
      route,
      method: methodsKnown.has(req.method) ? req.method : NONE,
      // Without an answer its client has gone.
      status: res.headersSent ? `${Math.floor(res.statusCode / 100)}xx` : NONE,
    };
    metrics?.request(labels, ms / 1_000);
    if (routesOfMachines.has(route)) return;
    const { method } = req;
    logger.debug(
      { request_id: context(res).requestId, method, route, status: res.statusCode, ms: Math.round(ms) },
      'answered a request',
    );
  });
}

/** Lets a request through when the gateway vouches for it. */
export function authenticated(secret: Secret, clock: Clock): RequestHandler {
  return (req, res, next) => {
    const identity = openIdentity(secret.reveal(), req.headers[IDENTITY_HEADER], clock.now());
    if (identity === undefined) {
      send(res, answers.unauthenticated);
      return;
    }
    if (identity === 'stale') {
      // Held up on its way, or the clocks disagree. Its client is known, and nothing was done.
      next(new Unavailable('the gateway sealed this request too long ago'));
      return;
    }
    context(res).identity = identity;
    next();
  };
}

/** Reads the body of a request whatever its content type says, at most 64 kB, numbers exact. */
export const readBody: RequestHandler[] = [
  express.raw({ type: () => true, limit: BODY_BYTES_MAX, inflate: false }),
  (req, res, next) => {
    const given: unknown = req.body;
    const raw = Buffer.isBuffer(given) ? given : noBytes;
    context(res).rawBody = raw;
    context(res).body = parseExactJson(decode(raw));
    next();
  },
];

// A BOM is kept, and no JSON begins with one.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a body. Bytes that are no UTF-8 are no JSON either: nobody guesses what was meant. */
function decode(raw: Buffer): string {
  try {
    return utf8.decode(raw);
  } catch {
    return '';
  }
}

/** Comes last: unknown routes, and what a route threw. */
export function finishApp(app: Express, logger: Logger, tell: Tell = send): void {
  app.use((req: Request, res: Response) => tell(res, answers.noRoute(req.path.replace(/^\/+/, ''))));
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const requestId = context(res).requestId;
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const answer = answerTo(error, req);
    if (answer.status >= 500) {
      const line = { request_id: requestId, method: req.method, path: req.path, reason: reason(error) };
      if (answer.status === 503) logger.warn(line, 'refused a request: something needed is away');
      else logger.error({ ...line, err: error }, 'a request failed');
    }
    tell(res, answer);
  });
}

function answerTo(error: unknown, req: Request): Answer {
  // A part of the path that cannot be decoded names nothing there is.
  if (error instanceof URIError) return answers.noRoute(req.path.replace(/^\/+/, ''));
  if (error instanceof Unavailable || isDatabaseDown(error)) return answers.unavailable;
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return answers.tooLarge;
  if (type === 'encoding.unsupported') return answers.compressed;
  // A body cut off or of a wrong length: the client's doing, answered like malformed JSON elsewhere.
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) return { ...answers.badRequest, status };
  return answers.serverError;
}

export type Listening = {
  port: number;
  /** Ends each connection after a last answer, takes no new one, lets open requests end; all of it in at most `ms`. */
  close(ms: number): Promise<void>;
};

export type ListenOptions = {
  /** In so long a request must have arrived whole, head and body; one that has not is answered 408. */
  readMs?: number;
  /** Whether a connection is taken; another is closed at once. */
  takes?: (socket: Socket) => boolean;
};

/** Requests are small. Who sends one byte at a time holds a connection for no longer. */
const READ_MS = 10_000;
/** How often Node looks for requests that take too long; its own half minute is longer than they may take. */
const LOOKED_AT_EVERY_MS = 1_000;

/**
 * Starts serving. Express sets two prototypes on every request, which V8 punishes; objects born with them
 * make that a no-op and the service twice as fast. Throws StartRefused when nobody can listen there.
 */
export function listen(
  app: Express,
  host: string,
  port: number,
  { readMs = READ_MS, takes }: ListenOptions = {},
): Promise<Listening> {
  function Req(this: IncomingMessage, ...given: unknown[]) {
    Reflect.apply(IncomingMessage as unknown as () => void, this, given);
  }
  Req.prototype = (app as unknown as { request: IncomingMessage }).request;
  function Res(this: ServerResponse, ...given: unknown[]) {
    Reflect.apply(ServerResponse as unknown as () => void, this, given);
  }
  Res.prototype = (app as unknown as { response: ServerResponse }).response;
  const server = createServer(
    {
      IncomingMessage: Req as never,
      ServerResponse: Res as never,
      requestTimeout: readMs,
      headersTimeout: readMs,
      connectionsCheckingInterval: Math.min(LOOKED_AT_EVERY_MS, readMs),
      requireHostHeader: false,
    },
    app as never,
  );
  if (takes !== undefined) {
    server.prependListener('connection', (socket) => {
      if (!takes(socket)) socket.destroy();
    });
  }
  const answering = new Set<ServerResponse>();
  server.prependListener('request', (_req: IncomingMessage, res: ServerResponse) => {
    answering.add(res);
    res.once('close', () => answering.delete(res));
  });
  server.on('clientError', refuseUnreadable);
  // Node's own refusal has no body.
  server.on('checkExpectation', (_req, res) => {
    makePrivate(res);
    send(res, answers.expectation);
  });
  // Longer than any client of ours keeps a connection, so that it is never closed under a request.
  server.keepAliveTimeout = 75_000;
  return new Promise((resolve, rejectListen) => {
    const refuse = (error: Error) => rejectListen(whyNotListening(error, host, port));
    server.once('error', refuse);
    server.listen({ host, port, backlog: 511 }, () => {
      server.off('error', refuse);
      const address = server.address();
      resolve({
        port: typeof address === 'object' && address !== null ? address.port : port,
        close: (ms) => closeServer(server, answering, ms),
      });
    });
  });
}

/** What is no HTTP never becomes a request; its sender is told why all the same, in JSON like everybody. */
const unreadable: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Content Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  const answering =
    (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true;
  if (!socket.writable || answering || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = unreadable[error.code ?? ''] ?? '400 Bad Request';
  const text = JSON.stringify({ message: status.slice(4) });
  const head = [
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${text.length}`,
    'Connection: close',
    ...Object.entries(privateAnswer).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}

const SWEEP_EVERY_MS = 50;
/**
 * For so long a kept connection is answered on once more before it is closed. Closed at once, it would be closed under a
 * request that is being sent, of which its sender could not say whether it was read; nobody who asks often uses one later.
 */
const RETIRE_WITHIN_MS = 500;

async function closeServer(server: Server, answering: Iterable<ServerResponse>, ms: number): Promise<void> {
  const end = performance.now() + ms;
  const retired = Math.min(performance.now() + RETIRE_WITHIN_MS, end);
  // A connection on which a last request came, or is being answered, is told that there will be no next one.
  const beTheLast = (res: ServerResponse) => {
    if (!res.headersSent) res.setHeader('Connection', 'close');
  };
  for (const res of answering) beTheLast(res);
  server.prependListener('request', (_req, res) => beTheLast(res));
  while (performance.now() < retired && (await connectionsOf(server)) > 0) await sleep(SWEEP_EVERY_MS);
  await new Promise<void>((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), Math.max(0, end - performance.now()));
    // Node closes what is idle now; what answers its request a moment later would stay open until the end.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_EVERY_MS);
    server.close(() => {
      clearTimeout(force);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });
}

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
