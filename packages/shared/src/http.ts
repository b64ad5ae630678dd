import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { parse } from 'node:querystring';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { type Clock, remembered } from './clock.ts';
import { isDatabaseDown, UnknownOutcome } from './db-errors.ts';
import { type RequestBody, readRequestBody } from './exact-json.ts';
import { form } from './form.ts';
import { type Answer, answers, makePrivate, send } from './http-answers.ts';
import { BODY_BYTES_MAX, type Identity } from './identity.ts';
import { type AssertionId, newRequestId } from './ids.ts';
import { type Logger, reason } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** So long an answer of `/readyz` is given again. */
const REMEMBERED_MS = 1_000;

/** Thrown where nothing was done because something needed is away: the client may come back. */
export class Unavailable extends Error {
  override name = 'Unavailable';
  /** What the client may know of it, and do about it. */
  readonly hint: string | undefined;
  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** What a request carries through a service. */
export type RequestContext = {
  requestId: string;
  identity: Identity;
  /** Of the gateway's assertion: no other request has it. */
  assertionId: AssertionId;
  /** The body as it came: what is signed or compared by its bytes. */
  rawBody: Buffer;
  body: RequestBody;
  /** The pattern of its route, where express does not know it. */
  route: string;
  /** Where clients reach this installation. */
  publicUrl: string | undefined;
};

export const context = (res: Response): Partial<RequestContext> => res.locals;

const noBytes = Buffer.alloc(0);

export function contextOf(res: Response): Omit<RequestContext, 'route' | 'publicUrl'> {
  const { requestId = '', identity, assertionId, rawBody = noBytes, body } = context(res);
  // Routes behind `merchantOnly` always have one; anything else is a route that forgot it.
  if (identity === undefined || assertionId === undefined)
    throw new Error('this route does not know whose request it is');
  return { requestId, identity, assertionId, rawBody, body };
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
  /** PUBLIC_URL: errors name their page of the documentation there. */
  publicUrl?: string | undefined;
};

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
  publicUrl,
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
    context(res).publicUrl = publicUrl;
    res.setHeader('X-Request-Id', id);
    makePrivate(res);
    // HTTP/1.1 asks for the refusal; Node's own comes without the message that every error of ours has.
    if (req.headers.host === undefined && req.httpVersion === '1.1') tell(res, answers.badRequest);
    else next();
  });
  const lately = remembered(
    async () => ({ waiting: await waitsFor(), missing: await without() }),
    REMEMBERED_MS,
  );
  app.get('/healthz', (_req, res) => send(res, { status: 200, body: { status: 'ok' } }));
  app.get('/readyz', async (_req, res) => {
    const { waiting, missing } = await lately();
    const warned = warnings();
    const ready = waiting.length === 0;
    const body = {
      ready,
      waits_for: waiting,
      ...(missing.length > 0 && { without: missing }),
      ...(warned.length > 0 && { warnings: warned }),
    };
    send(res, { status: ready ? 200 : 503, body });
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
    const route = routeOf(req, res);
    const ms = performance.now() - beganMs;
    const labels = {
      route,
      method: methodsKnown.has(req.method) ? req.method : NONE,
      // Without an answer its client has gone.
      status: res.headersSent ? `${Math.floor(res.statusCode / 100)}xx` : NONE,
    };
    metrics?.request(labels, ms / 1_000);
    if (routesOfMachines.has(route)) return;
    const fields = { request_id: context(res).requestId, method: req.method, route };
    logger.debug({ ...fields, status: res.statusCode, ms: Math.round(ms) }, 'answered a request');
  });
}

function routeOf(req: Request, res: Response): string {
  const found = context(res).route ?? (req.route as { path?: unknown } | undefined)?.path;
  return typeof found === 'string' ? found : NONE;
}

/** Reads the bytes of a request whatever its content type says, at most 64 kB. */
export const readBytes = express.raw({ type: () => true, limit: BODY_BYTES_MAX, inflate: false });

/** The body that `readBytes` has read. */
export const bytesOf = ({ body }: Request): Buffer => (Buffer.isBuffer(body) ? body : noBytes);

const noFields = form({});

/** The answer to query parameters where a route takes none. It comes after 404 and 403, and before anything is done. */
export function unknownParameters({ query }: Pick<Request, 'query'>): Answer | undefined {
  const read = noFields(query);
  return read.ok ? undefined : answers.invalid(read.refusal);
}

/** The same before a handler of what is known to be there, or to be the caller's. */
export const takesNoParameters: RequestHandler = (req, res, next) => {
  const refused = unknownParameters(req);
  if (refused === undefined) next();
  else send(res, refused);
};

/**
 * The answer to query parameters, or to fields in the body, where a route takes neither. It comes after 404 and 403, and before
 * anything is done. The body is read by `readBody` before.
 */
export function unknownInput(req: Pick<Request, 'query'>, res: Response): Answer | undefined {
  const refused = unknownParameters(req);
  if (refused !== undefined) return refused;
  const read = noFields(contextOf(res).body);
  return read.ok ? undefined : answers.invalid(read.refusal);
}

/** Reads the body of a request whatever its content type says, at most 64 kB, numbers exact. */
export const readBody: RequestHandler[] = [
  // Those of merchants are read already.
  (req, res, next) => (context(res).rawBody === undefined ? readBytes(req, res, next) : next()),
  (req, res, next) => {
    const rawBody = context(res).rawBody ?? bytesOf(req);
    Object.assign(context(res), { rawBody, body: readRequestBody(rawBody) });
    next();
  },
];

/** The same before a handler. */
export const takesNothing: RequestHandler[] = [
  ...readBody,
  (req, res, next) => {
    const refused = unknownInput(req, res);
    return refused === undefined ? next() : send(res, refused);
  },
];

/**
 * Reads a query as PHP does: given twice, the last one counts; `name[]` and `name[key]` make `name` an array,
 * so that a filter that takes none says so instead of being ignored. Those in `lists` may be given several times.
 */
export function readQuery(text: string, lists: readonly string[]): Record<string, unknown> {
  const query: Record<string, unknown> = Object.create(null);
  for (const [given, value = ''] of Object.entries(parse(text))) {
    const [, name = given, key] = /^([^[]+)\[(.*)\]$/.exec(given) ?? [];
    if (key === undefined && !lists.includes(name)) query[name] = Array.isArray(value) ? value.at(-1) : value;
    else if (key === undefined) query[name] = value;
    else query[name] = [...arrayOf(query[name]), ...arrayOf(value)];
  }
  return query;
}

/** A query whose `name` is an array: its values are separated by commas, or were given several times. */
export function withList(query: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = query[name];
  return { ...query, [name]: typeof value === 'string' && value !== '' ? value.split(',') : value };
}

const arrayOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

/** Comes last: unknown routes, and what a route threw. */
export function finishApp(app: Express, logger: Logger, tell: Tell = send): void {
  app.use((req: Request, res: Response) => tell(res, answers.noRoute(req.path.replace(/^\/+/, ''))));
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    if (res.headersSent) return void res.destroy();
    const answer = answerTo(error, req);
    if (answer.status >= 500) {
      const { requestId } = context(res);
      const of = { request_id: requestId, method: req.method, path: loggedPath(req, res) };
      const line = { ...of, reason: reason(error) };
      if (answer.status === 503) logger.warn(line, 'refused a request: something needed is away');
      else logger.error({ ...line, err: error }, 'a request failed');
    }
    tell(res, answer);
  });
}

/** Whoever has a path with a token may use it: of those, and of what is no known route, the pattern. */
function loggedPath(req: Request, res: Response): string {
  const route = routeOf(req, res);
  return route === NONE || route.includes(':token') ? route : req.path;
}

function answerTo(error: unknown, req: Request): Answer {
  if (error instanceof URIError) return answers.noRoute(req.path.replace(/^\/+/, ''));
  if (error instanceof Unavailable && error.hint !== undefined) return answers.unavailableWith(error.hint);
  const isAway = isDatabaseDown(error) && !(error instanceof UnknownOutcome);
  if (error instanceof Unavailable || isAway) return answers.unavailable;
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return answers.tooLarge;
  if (type === 'encoding.unsupported') return answers.compressed;
  // A body cut off or of a wrong length: the client's doing, answered like malformed JSON elsewhere.
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) return { ...answers.badRequest, status };
  return answers.serverError;
}
