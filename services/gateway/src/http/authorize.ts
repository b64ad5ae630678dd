import type { ServerResponse } from 'node:http';
import { type Answer, answers, send } from '@quittance/shared/http-answers';
import type { Request, Response } from 'express';
import { clientKeyOf } from '../domain/client-address.ts';
import { needsStepUp } from '../domain/person-operations.ts';
import { type RateLimitResult, rateLimitHeaders } from '../domain/rate-limit.ts';
import type { Route } from '../domain/routes.ts';
import { isForeign, isForeignSignIn, isSteppedUp, sessionToken } from '../domain/session.ts';
import { hasAuthorization } from '../domain/token.ts';
import {
  admitToPage,
  admitToPayment,
  invoiceIn,
  isSeen,
  noteCreated,
  notePage,
} from '../operations/admit-to-page.ts';
import { type Authentication, authenticate, type TokenProblem } from '../operations/authenticate.ts';
import { authenticateSession } from '../operations/authenticate-session.ts';
import { type Caller, idOfCaller } from '../operations/caller.ts';
import type { Ports } from '../ports.ts';
import { noteWhenFailed } from './activity.ts';
import { sendPayPage } from './pay-page.ts';
import { refusedOperation } from './permission.ts';

/**
 * A request that is let through. Without a caller it is for a page of a customer or public keys, which whoever has the link may
 * see, or it is a sign-in.
 */
export type Authorized = {
  caller: Caller | undefined;
  /** Call it when an answer without an end has begun. */
  begun?: () => void;
};

/** What decides who is let through. */
type Admission = Pick<Route, 'auth' | 'pattern' | 'countedTogether' | 'isFile' | 'opensPayments'>;

type Asked = { route: Admission; path: string; client: string | undefined };

/** Who is let through; undefined when the request has had its answer here. */
export async function authorize(
  req: Request,
  res: Response,
  asked: Asked,
  ports: Ports,
): Promise<Authorized | undefined> {
  const { route, client } = asked;
  if (route.auth === 'none') return authorizePage(req, res, asked, ports);
  if (route.auth === 'credentials') return authorizeSignIn(req, res, client, ports);
  // A request that names a token is that token's, whatever cookies come with it.
  const cookie = hasAuthorization(req.rawHeaders) ? undefined : sessionToken(req.headers.cookie);
  if (cookie !== undefined && isForeign(originOf(req), ports.ownOrigin)) {
    tell(res, answers.foreignOrigin(ports.ownOrigin));
    return undefined;
  }
  const authentication = await authenticateBy(req, { cookie, route, client }, ports);
  switch (authentication.kind) {
    case 'unauthenticated':
      if (authentication.cause === 'not_valid')
        ports.refusals.log(
          'info',
          `token.${clientKeyOf(client)}`,
          { address: client },
          cookie === undefined
            ? 'an API token was used that is unknown, revoked or expired'
            : 'a session was used that is unknown, ended or expired',
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
      const { caller, rateLimit } = authentication;
      setHeaders(res, rateLimit, ports);
      // What somebody does as an operator is no business of the account.
      if (route.auth !== 'operator')
        noteWhenFailed(ports, res, { caller, client, method: req.method, path: asked.path });
      if (isOfOtherAccount(req, caller)) {
        tell(res, answers.otherAccount);
        return undefined;
      }
      const refused = refusedOperation(caller, req.method, route) ?? missingStepUp(caller, req, route, ports);
      if (refused !== undefined) {
        noteRefused(caller, { client, operation: `${req.method} ${route.pattern}` }, ports);
        tell(res, refused);
        return undefined;
      }
      if (req.method === 'POST' && route.pattern === '/api/invoices') noteInvoice(res, ports);
      return { caller };
    }
  }
}

function noteRefused(
  caller: Caller,
  { client, operation }: { client: string | undefined; operation: string },
  { refusals }: Ports,
): void {
  const { tokenId, account } = caller;
  const who = tokenId === undefined ? { person: caller.session.person } : { token_id: tokenId };
  const details = { ...who, account, address: client, operation };
  const text =
    tokenId === undefined
      ? 'a person has asked for what needs another role or a step-up'
      : 'an API token was used for what it may not do';
  refusals.log('info', `scope.${idOfCaller(caller)}`, details, text);
}

const originOf = ({ method, headers }: Request) => ({
  method,
  origin: headers.origin,
  site: headers['sec-fetch-site']?.toString(),
});

/** A page names the account that it shows: a sign-in in another window may have changed whose cookie the browser sends. */
const isOfOtherAccount = ({ headers }: Request, { account }: Caller): boolean =>
  headers['quittance-account'] !== undefined && headers['quittance-account'] !== account;

type By = { cookie: string | undefined; route: Admission; client: string | undefined };

function authenticateBy(req: Request, { cookie, route, client }: By, ports: Ports): Promise<Authentication> {
  if (cookie !== undefined) return authenticateSession(ports, { token: cookie, client });
  // What only people can do no token opens: it is not even looked up.
  const rawHeaders = route.auth === 'session' || route.auth === 'operator' ? [] : req.rawHeaders;
  return authenticate(ports, { rawHeaders, client });
}

function missingStepUp(caller: Caller, req: Request, route: Admission, { clock }: Ports): Answer | undefined {
  if (caller.tokenId !== undefined || !needsStepUp(req.method, route)) return undefined;
  return isSteppedUp(caller.session.steppedUpAt, clock.now()) ? undefined : answers.stepUpNeeded;
}

/** A sign-in, or the acceptance of an invitation: whose it is, its body says. */
async function authorizeSignIn(
  req: Request,
  res: Response,
  client: string | undefined,
  ports: Ports,
): Promise<Authorized | undefined> {
  if (isForeignSignIn(originOf(req), ports.ownOrigin)) {
    tell(res, answers.foreignOrigin(ports.ownOrigin));
    return undefined;
  }
  const rateLimit = await ports.limits.signIns.hit(clientKeyOf(client));
  if (!rateLimit.allowed) return refuse(res, rateLimit, ports);
  return { caller: await sessionBeside(req, client, ports) };
}

/** The session that somebody has who signs in, when it is valid. */
async function sessionBeside(
  req: Request,
  client: string | undefined,
  ports: Ports,
): Promise<Caller | undefined> {
  const token = sessionToken(req.headers.cookie);
  if (token === undefined || isForeign(originOf(req), ports.ownOrigin)) return undefined;
  const authentication = await authenticateSession(ports, { token, client });
  return authentication.kind === 'caller' ? authentication.caller : undefined;
}

async function authorizePage(
  req: Request,
  res: Response,
  { route, path, client }: Asked,
  ports: Ports,
): Promise<Authorized | undefined> {
  const clientKey = clientKeyOf(client);
  const request = { invoice: countedAs(route, path), clientKey };
  if (route.isFile === true && isSeen(ports, request)) return { caller: undefined };
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
  let isNoted = false;
  const note = (status: number | undefined) => {
    if (isNoted) return;
    isNoted = true;
    void notePage(ports, request, status).finally(rateLimit.done);
  };
  res.once('close', () => note(res.headersSent ? res.statusCode : undefined));
  // Whether there is such an invoice is known then, not only when the stream of its page has ended.
  return { caller: undefined, begun: () => note(res.statusCode) };
}

function countedAs({ countedTogether, isFile, pattern }: Admission, path: string): string {
  if (countedTogether === true) return pattern;
  // No invoice has such an id.
  return isFile === true ? `${pattern} ${invoiceIn(path)}` : invoiceIn(path);
}

/** Notes the invoice whose payment page the answer names. */
function noteInvoice(res: Response, ports: Ports): void {
  res.once('finish', () => {
    const location = res.getHeader('location');
    if (typeof location === 'string') noteCreated(ports, location);
  });
}

const challenges = {
  malformed:
    'The header must be: Authorization: Bearer, a space, and a whole API token (qt_ and 49 letters and digits)',
  not_valid: 'The API token is unknown, revoked or expired: use another one',
} as const;

/** RFC 6750: without a token there is no error to tell, only what is asked for. */
export function challengeOf(cause: TokenProblem): Record<string, string> {
  const error =
    cause === 'missing' ? '' : `, error="invalid_token", error_description="${challenges[cause]}"`;
  return { 'WWW-Authenticate': `Bearer realm="quittance"${error}` };
}

/**
 * What the gateway itself answers: JSON to programs, a page to people who pay, or stop e-mails. A customer who reads JSON on the way
 * to pay is a customer lost.
 */
export function tell(res: ServerResponse, answer: Answer): void {
  if (!/^\/(?:pay|link|claim|unsubscribe)(?:[/?]|$)/.test(res.req.url ?? '')) {
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
