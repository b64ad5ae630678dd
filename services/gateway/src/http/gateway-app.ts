import { type CsvExports, csvExports } from '@quittance/shared/csv-export';
import { ERRORS_PATH } from '@quittance/shared/error-codes';
import { failpoint } from '@quittance/shared/failpoint';
import { createApp, finishApp, nameRoute } from '@quittance/shared/http';
import { type Answer, answers } from '@quittance/shared/http-answers';
import { BODY_BYTES_MAX, IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import { invariant } from '@quittance/shared/result';
import { sendPage } from '@quittance/shared/send-page';
import type { ServiceHttpParts } from '@quittance/shared/start-service';
import type { Express, Request, RequestHandler, Response } from 'express';
import { isAudited } from '../domain/audited.ts';
import { forwardedHeaders } from '../domain/forwarded.ts';
import { findRoute, type Route } from '../domain/routes.ts';
import { noteRequestedChange } from '../operations/audit-log.ts';
import { type Caller, identityOf, idOfCaller } from '../operations/caller.ts';
import { isStillValid } from '../operations/still-valid.ts';
import type { Ports } from '../ports.ts';
import {
  answerWithoutResponse,
  isOver,
  onlyReads,
  type ProxiedRequest,
  proxyContextOf,
} from '../proxy/proxy-response.ts';
import { answerAuditLog, answerRequests } from './activity.ts';
import { authorize, challengeOf, tell } from './authorize.ts';
import { DASHBOARD_PATH, openDashboard } from './dashboard.ts';
import { openDocs } from './docs/docs-app.ts';
import { DOCS_PATH } from './docs/library.ts';
import { errorsPage } from './errors-page.ts';
import { type FileAnswer, ICON_PATH, iconAnswer, sendFile } from './file-answer.ts';
import { answerOfOperators } from './operators.ts';
import { answerOfPeople } from './people.ts';
import { hasBody, readBody } from './request-body.ts';
import { answerOfTokens } from './tokens.ts';

/** For Prometheus, on a port of its own: what the gateway tells of itself is no client's business. */
export function createMetricsApp(
  { trustedProxies }: Pick<Ports, 'trustedProxies'>,
  parts: ServiceHttpParts,
): Express {
  const app = createApp({ ...parts, warnings: trustedProxies.warnings });
  finishApp(app, parts.logger);
  return app;
}

/**
 * The one way in. The order of checks is the contract's: route and verb, whose request it is, how many there
 * were, how long it is. Only then does a service hear of it.
 */
export function createGatewayApp(ports: Ports, parts: ServiceHttpParts): Express {
  const { proxy, trustedProxies, settings } = ports;
  const app = createApp({ ...parts, warnings: trustedProxies.warnings, atTheEdge: true, tell });
  if (settings.PUBLIC_URL.startsWith('https:')) app.use(onlyByTls);

  const docs = openDocs(settings.PUBLIC_URL);
  const dashboard = openDashboard();
  const icon = iconAnswer();
  const exports = csvExports(ports);
  const fileAt = (path: string): FoundFile | undefined => {
    if (path === ICON_PATH) return { file: icon, pattern: ICON_PATH };
    const document = docs.answerTo(path);
    if (document !== undefined) return { file: document, pattern: DOCS_PATH };
    const part = dashboard.answerTo(path);
    return part === undefined ? undefined : { file: part, pattern: DASHBOARD_PATH };
  };
  app.all(ERRORS_PATH, (req, res) => {
    if (onlyReads(res)) sendPage(res, errorsPage);
    else tell(res, answers.wrongVerb(req.method, ['GET', 'HEAD']));
  });
  app.use(async (req: Request, res: Response) => {
    const path = pathOf(req);
    if (path === '/' && isForPeople(req)) return res.redirect(302, `.${DASHBOARD_PATH}/`);
    const file = fileAt(path);
    if (file !== undefined) return answerFile(req, res, { ...file, path }, ports);
    const found = findRoute(req.method, path);
    if (found.kind === 'unknown') return tell(res, answers.noRoute(path.replace(/^\/+/, '') || '/'));
    if (found.kind === 'wrong_verb') return tell(res, answers.wrongVerb(req.method, found.allowed));

    nameRoute(res, found.route.pattern);
    endInTime(res, ports);
    const client = trustedProxies.clientOf(req);
    const authorized = await authorize(req, res, { route: found.route, path, client }, ports);
    if (authorized === undefined || isOver(res)) return;
    const { caller } = authorized;
    res.locals['isReading'] = true;
    const beganMs = performance.now();
    const body = hasBody(req) ? await readBody(req, found.route.bodyBytesMax ?? BODY_BYTES_MAX) : undefined;
    res.locals['isReading'] = false;
    if (body === 'broken_off' || isOver(res)) return;
    if (body === 'too_large') return tell(res, answers.tooLarge);
    // A request whose body comes slowly may begin before its token is revoked: it must not be carried out afterwards.
    const isSlow = performance.now() - beganMs > SLOW_BODY_MS;
    if (caller !== undefined && isSlow && !(await isStillValid(ports, caller))) {
      return tell(res, { ...answers.unauthenticated, headers: challengeOf('not_valid') });
    }
    const { upstream, endless = false, pattern } = found.route;
    if (endless && caller === undefined && !ports.pageStreams.begins(res, client)) {
      ports.metrics.refused('page_stream');
      return tell(res, tooManyPageStreams);
    }
    if (upstream === 'gateway') {
      const asked = { client, pattern, path, body, caller };
      const answer = await answerOfGateway(req, res, { route: found.route, asked, exports }, ports);
      return answer === undefined || isOver(res) ? undefined : tell(res, answer);
    }

    if (!proxy.reaches(upstream)) return tell(res, answers.noRoute(path.replace(/^\/+/, '')));
    if (caller !== undefined && isAudited(req.method, found.route)) {
      const requestId = String(res.getHeader('X-Request-Id'));
      await noteRequestedChange(ports, { caller, client }, { method: req.method, path, requestId });
      if (isOver(res)) return;
    }
    const asOperator = found.route.auth === 'operator';
    req.headers = headersFor(req, res, { caller, client, body, upstream, asOperator }, ports);
    failpoint('gateway.admitted');
    const begun = () => {
      authorized.begun?.();
      if (caller === undefined) endWithStream(req, res, ports);
    };
    await proxy.pass(req, res, { upstream, endless, body, of: caller && idOfCaller(caller), begun });
  });

  finishApp(app, parts.logger, tell);
  return app;
}

/** A year: a browser that has reached this host by TLS once does not use plain HTTP there any more. */
const onlyByTls: RequestHandler = (_req, res, next) => {
  res.setHeader('Strict-Transport-Security', 'max-age=31536000');
  next();
};

type AskedOfGateway = {
  route: Route;
  asked: Parameters<typeof answerOfPeople>[1];
  exports: CsvExports;
};

/** The answer to what no service knows; undefined when it was sent as a file. */
async function answerOfGateway(
  req: Request,
  res: Response,
  { route: { pattern, auth }, asked, exports }: AskedOfGateway,
  ports: Ports,
): Promise<Answer | undefined> {
  if (auth === 'operator') return answerOfOperators(req, { ...asked, caller: callerIn(asked.caller) }, ports);
  if (pattern.startsWith('/api/tokens'))
    return answerOfTokens(req, { ...asked, caller: callerIn(asked.caller) }, ports);
  if (pattern === '/api/requests') return answerRequests(req, callerIn(asked.caller).account, ports);
  if (pattern === '/api/audit-log')
    return answerAuditLog(req, res, { account: callerIn(asked.caller).account, exports }, ports);
  return answerOfPeople(req, asked, ports);
}

function callerIn(caller: Caller | undefined): Caller {
  invariant(caller !== undefined, 'what is asked for is of an account');
  return caller;
}

/** The page looks by itself then, and asks for the stream again later. */
const tooManyPageStreams: Answer = { ...answers.tooMany, headers: { 'Retry-After': '30' } };

/** A token or a session is read again when the body took longer. */
const SLOW_BODY_MS = 500;

/** A request may name the whole URL instead of the path (RFC 9112, 3.2.2); services see the path. */
function pathOf(req: Request): string {
  if (!req.url.startsWith('/') && URL.canParse(req.url)) {
    const { pathname, search } = new URL(req.url);
    req.url = pathname + search;
  }
  const queryAt = req.url.indexOf('?');
  return queryAt === -1 ? req.url : req.url.slice(0, queryAt);
}

/** Whatever a request waits for, a database or a service, its client is not kept waiting with it for ever. */
function endInTime(res: Response, { settings, logger }: Ports): void {
  const timer = setTimeout(() => {
    const context = proxyContextOf(res);
    // Of a file that has begun nothing else can be told.
    if (isOver(res) || res.headersSent) return;
    const answer = res.locals['isReading'] === true ? answers.timeout : answerWithoutResponse(res);
    const line = { request_id: res.getHeader('X-Request-Id'), upstream: context?.upstream };
    logger.warn({ ...line, status: answer.status }, 'a request took too long');
    tell(res, answer);
    context?.outgoing?.destroy();
  }, settings.REQUEST_TIMEOUT_MS);
  res.on('close', () => clearTimeout(timer));
}

type FoundFile = { file: FileAnswer; pattern: string };

/** A browser at the address of this installation. Programs learn that nothing is there. */
const isForPeople = ({ method, headers }: Request): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '');

/** Documents and the dashboard are public, and a client's requests for all of them are counted together. */
async function answerFile(
  req: Request,
  res: Response,
  { file, pattern, path }: FoundFile & { path: string },
  ports: Ports,
): Promise<void> {
  if (!onlyReads(res)) return tell(res, answers.wrongVerb(req.method, ['GET', 'HEAD']));
  nameRoute(res, pattern);
  // Browsers ask once for a file that never changes, and to count costs more than to answer.
  if (file.cache === 'forever') return sendFile(req, res, file);
  const client = ports.trustedProxies.clientOf(req);
  const route = { auth: 'none', pattern, countedTogether: true } as const;
  const authorized = await authorize(req, res, { route, path, client }, ports);
  if (authorized !== undefined && !isOver(res)) sendFile(req, res, file);
}

/**
 * Any number of customers may look at their payments behind one address: the connection of a page's stream, of which the service
 * allows each invoice a few, does not count as one of its client. It carries nothing else afterwards.
 */
function endWithStream(req: Request, res: Response, { connections }: Ports): void {
  // An answer to HEAD is no stream, and one that waits for those before it keeps its connection in use.
  if (req.method === 'HEAD' || res.socket !== req.socket) return;
  connections.release(req.socket);
  res.setHeader('Connection', 'close');
}

const noBytes = Buffer.alloc(0);

function headersFor(
  req: Request,
  res: Response,
  {
    caller,
    client,
    body,
    upstream,
    asOperator,
  }: Pick<ProxiedRequest, 'body' | 'upstream'> & {
    caller: Caller | undefined;
    client: string | undefined;
    asOperator: boolean;
  },
  { signingKey, clock }: Ports,
): Request['headers'] {
  const headers = forwardedHeaders(req.headers);
  headers['x-request-id'] = String(res.getHeader('X-Request-Id'));
  headers['x-forwarded-for'] = client;
  if (caller !== undefined) {
    const { method, url } = req;
    const request = { receiver: upstream, method, path: url, body: body ?? noBytes };
    // Once for each request, because only what reads is sent a second time: see `mayTryAgain`.
    headers[IDENTITY_HEADER] = signIdentity(signingKey, identityOf(caller, asOperator), request, clock.now());
  }
  // Always by length: two servers that disagree where a body ends can be made to see different requests.
  if (body !== undefined) headers['content-length'] = String(body.length);
  else if (req.method !== 'GET' && req.method !== 'HEAD') headers['content-length'] = '0';
  return headers;
}
