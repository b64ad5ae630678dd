import type { ServerResponse } from 'node:http';
import { ERRORS_PATH } from '@quittance/shared/error-codes';
import { failpoint } from '@quittance/shared/failpoint';
import { sendPage } from '@quittance/shared/html';
import { createApp, finishApp, nameRoute } from '@quittance/shared/http';
import { type Answer, answers, send } from '@quittance/shared/http-answers';
import { BODY_BYTES_MAX, IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import { invariant } from '@quittance/shared/result';
import type { ServiceHttpParts } from '@quittance/shared/start-service';
import type { Express, Request, RequestHandler, Response } from 'express';
import { isAudited } from '../domain/audited.ts';
import { clientKeyOf } from '../domain/client-address.ts';
import { forwardedHeaders } from '../domain/forwarded.ts';
import { type RateLimitResult, rateLimitHeaders } from '../domain/rate-limit.ts';
import { findRoute, type Route } from '../domain/routes.ts';
import {
  admitToPage,
  admitToPayment,
  invoiceIn,
  noteCreated,
  notePage,
} from '../operations/admit-to-page.ts';
import { noteRequestedChange } from '../operations/audit-log.ts';
import { authenticate, isStillValid, type TokenProblem } from '../operations/authenticate.ts';
import type { Ports } from '../ports.ts';
import {
  answerWithoutResponse,
  isOver,
  onlyReads,
  type ProxiedRequest,
  proxyContextOf,
} from '../proxy/proxy-response.ts';
import type { Caller } from '../store/tokens.ts';
import { type DocsAnswer, openDocs, sendDocs } from './docs/docs-app.ts';
import { DOCS_PATH } from './docs/library.ts';
import { errorsPage } from './errors-page.ts';
import { sendPayPage } from './pay-page.ts';
import { refusedScope } from './permission.ts';
import { hasBody, readBody } from './request-body.ts';
import { answerOfTokens } from './tokens.ts';

/** A request that is let through. Without a caller it is for a page of a customer or public keys, which whoever has the link may see. */
type Authorized = { caller: Caller | undefined };

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
  app.all(ERRORS_PATH, (req, res) => {
    if (onlyReads(res)) sendPage(res, errorsPage);
    else tell(res, answers.wrongVerb(req.method, ['GET', 'HEAD']));
  });
  app.use(async (req: Request, res: Response) => {
    const path = pathOf(req);
    const page = docs.answerTo(path);
    if (page !== undefined) return answerDocs(req, res, { page, path }, ports);
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
    if (upstream === 'gateway') {
      invariant(caller !== undefined, 'what the gateway itself answers needs a token');
      const answer = await answerOfTokens(req, { caller, client, pattern, path, body }, ports);
      return isOver(res) ? undefined : tell(res, answer);
    }

    if (caller !== undefined && isAudited(req.method, pattern)) {
      const requestId = String(res.getHeader('X-Request-Id'));
      await noteRequestedChange(ports, { caller, client }, { method: req.method, path, requestId });
      if (isOver(res)) return;
    }
    req.headers = headersFor(req, res, { caller, client, body, upstream }, ports);
    failpoint('gateway.admitted');
    await proxy.pass(req, res, { upstream, endless, body, tokenId: caller?.tokenId });
  });

  finishApp(app, parts.logger, tell);
  return app;
}

/** A year: whoever has reached this host by TLS once does not use plain HTTP there any more. */
const onlyByTls: RequestHandler = (_req, res, next) => {
  res.setHeader('Strict-Transport-Security', 'max-age=31536000');
  next();
};

/** A token is read again when the body took longer. */
const SLOW_BODY_MS = 500;

const challenges = {
  malformed:
    'The header must be: Authorization: Bearer, a space, and a whole API token (qt_ and 49 letters and digits)',
  not_valid: 'The API token is unknown, revoked or expired: use another one',
} as const;

/** RFC 6750: without a token there is no error to tell, only what is asked for. */
function challengeOf(cause: TokenProblem): Record<string, string> {
  const error =
    cause === 'missing' ? '' : `, error="invalid_token", error_description="${challenges[cause]}"`;
  return { 'WWW-Authenticate': `Bearer realm="quittance"${error}` };
}

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
    if (isOver(res) || context?.streaming === true) return;
    const answer = res.locals['isReading'] === true ? answers.timeout : answerWithoutResponse(res);
    const line = { request_id: res.getHeader('X-Request-Id'), upstream: context?.upstream };
    logger.warn({ ...line, status: answer.status }, 'a request took too long');
    tell(res, answer);
    context?.outgoing?.destroy();
  }, settings.REQUEST_TIMEOUT_MS);
  res.on('close', () => clearTimeout(timer));
}

/** Documents are public, and a client's requests for all of them are counted together. */
const docsRoute = { auth: 'none', pattern: DOCS_PATH, countedTogether: true } as const;

async function answerDocs(
  req: Request,
  res: Response,
  { page, path }: { page: DocsAnswer; path: string },
  ports: Ports,
): Promise<void> {
  if (!onlyReads(res)) return tell(res, answers.wrongVerb(req.method, ['GET', 'HEAD']));
  nameRoute(res, DOCS_PATH);
  const client = ports.trustedProxies.clientOf(req);
  const authorized = await authorize(req, res, { route: docsRoute, path, client }, ports);
  if (authorized !== undefined && !isOver(res)) sendDocs(req, res, page);
}

/** What decides who is let through. */
type Admission = Pick<Route, 'auth' | 'pattern' | 'countedTogether' | 'opensPayments'>;

/** Who is let through; undefined when the request has had its answer here. */
async function authorize(
  req: Request,
  res: Response,
  { route, path, client }: { route: Admission; path: string; client: string | undefined },
  ports: Ports,
): Promise<Authorized | undefined> {
  const clientKey = clientKeyOf(client);
  if (route.auth === 'none') {
    const request = { invoice: route.countedTogether ? route.pattern : invoiceIn(path), clientKey };
    const rateLimit = await admitToPage(ports, request);
    if (!rateLimit.allowed) return refuse(res, rateLimit, ports);
    if (route.opensPayments === true && req.method === 'POST') {
      const begun = await admitToPayment(ports, request);
      if (!begun.allowed) {
        rateLimit.done();
        return refuse(res, begun, ports);
      }
      noteInvoice(res, ports);
    }
    res.once('close', () => {
      void notePage(ports, request, res.headersSent ? res.statusCode : undefined).finally(rateLimit.done);
    });
    return { caller: undefined };
  }
  const authentication = await authenticate(ports, { rawHeaders: req.rawHeaders, client });
  switch (authentication.kind) {
    case 'unauthenticated':
      if (authentication.cause === 'not_valid')
        ports.refusals.log(
          'info',
          `token.${clientKey}`,
          { address: client },
          'an API token was used that is unknown, revoked or expired',
        );
      tell(res, { ...answers.unauthenticated, headers: challengeOf(authentication.cause) });
      return undefined;
    case 'too_many':
      return refuse(res, authentication.rateLimit, ports);
    case 'wrong_address':
      ports.refusals.log(
        'warn',
        `address.${authentication.tokenId}`,
        { token_id: authentication.tokenId, address: client },
        'an API token was used from an address that it does not allow: if it is not a client of its owner, revoke it',
      );
      tell(res, answers.addressNotAllowed(client ?? 'this address'));
      return undefined;
    case 'caller': {
      setHeaders(res, authentication.rateLimit, ports);
      const refused = refusedScope(authentication.caller, req.method, route.pattern);
      if (refused !== undefined) {
        const { tokenId, account } = authentication.caller;
        const details = {
          token_id: tokenId,
          account,
          address: client,
          operation: `${req.method} ${route.pattern}`,
        };
        ports.refusals.log(
          'info',
          `scope.${tokenId}`,
          details,
          'an API token was used for what it may not do',
        );
        tell(res, refused);
        return undefined;
      }
      if (req.method === 'POST' && route.pattern === '/api/invoices') noteInvoice(res, ports);
      return { caller: authentication.caller };
    }
  }
}

/** Notes the invoice whose payment page the answer names. */
function noteInvoice(res: Response, ports: Ports): void {
  res.once('finish', () => {
    const location = res.getHeader('location');
    if (typeof location === 'string') noteCreated(ports, location);
  });
}

/**
 * What the gateway itself answers: JSON to programs, a page to people who pay. A customer who reads JSON on the way
 * to pay is a customer lost.
 */
export function tell(res: ServerResponse, answer: Answer): void {
  if (!/^\/(?:pay|link|claim)(?:[/?]|$)/.test(res.req.url ?? '')) {
    send(res, answer);
    return;
  }
  for (const [name, value] of Object.entries(answer.headers ?? {})) res.setHeader(name, value);
  sendPayPage(res, answer.status);
}

function refuse(res: Response, rateLimit: RateLimitResult, ports: Ports): undefined {
  setHeaders(res, rateLimit, ports);
  tell(res, answers.tooMany);
}

function setHeaders(res: Response, rateLimit: RateLimitResult, { clock }: Ports): void {
  for (const [name, value] of rateLimitHeaders(rateLimit, clock.now())) res.setHeader(name, value);
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
  }: Pick<ProxiedRequest, 'body' | 'upstream'> & { caller: Caller | undefined; client: string | undefined },
  { signingKey, clock }: Ports,
): Request['headers'] {
  const headers = forwardedHeaders(req.headers);
  headers['x-request-id'] = String(res.getHeader('X-Request-Id'));
  headers['x-forwarded-for'] = client;
  if (caller !== undefined) {
    const { method, url } = req;
    const request = { receiver: upstream, method, path: url, body: body ?? noBytes };
    // Once for each request, because only what reads is sent a second time: see `mayTryAgain`.
    const { account, tokenId: token, scopes } = caller;
    const identity = { account, token, scopes: scopes ?? undefined };
    headers[IDENTITY_HEADER] = signIdentity(signingKey, identity, request, clock.now());
  }
  // Always by length: two servers that disagree where a body ends can be made to see different requests.
  if (body !== undefined) headers['content-length'] = String(body.length);
  else if (req.method !== 'GET' && req.method !== 'HEAD') headers['content-length'] = '0';
  return headers;
}
