import type { addBatchRoutes } from '@quittance/payouts/http/payout-batches';
import type { Answer } from '@quittance/shared/http-answers';
import { IDENTITY_HEADER } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { requestProofOf } from '@quittance/testkit/api';

type App = Parameters<typeof addBatchRoutes>[0];

/** What a handler reads of a request that middleware has read and whose merchant is known. */
export type RouteCall = {
  account?: AccountId;
  requestId: string;
  params?: Record<string, string>;
  key?: string | undefined;
  /** The body, as bytes and parsed. */
  rawBody: Buffer;
  body: unknown;
  /** When the gateway admits it. */
  at?: Date;
};

/** Answers a request without a socket. */
export type Route = (call: RouteCall) => Promise<Answer>;

type Handler = (req: object, res: object) => Promise<void>;

/** The routes that `add` gives to express, by method and path: the last handler of each, without its middleware. */
export function routesOf(add: (app: App) => void): Map<string, Route> {
  const routes = new Map<string, Route>();
  const taking =
    (method: string) =>
    (path: string, ...handlers: Handler[]) => {
      const handler = handlers.at(-1);
      if (handler !== undefined)
        routes.set(`${method} ${path}`, (call) => callHandler(handler, { method, path }, call));
    };
  const methods = ['get', 'post', 'put', 'patch', 'delete'];
  const app = Object.fromEntries(methods.map((method) => [method, taking(method.toUpperCase())]));
  add(app as unknown as App);
  return routes;
}

async function callHandler(
  handler: Handler,
  route: { method: string; path: string },
  { account, requestId, params = {}, key, rawBody, body, at }: RouteCall,
): Promise<Answer> {
  const { method } = route;
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '');
  // Its id is not drawn from the seed: nothing is decided by it.
  const proof =
    account &&
    requestProofOf(account, { method, path, body: rawBody.toString(), receiver: 'payouts', now: at });
  const headers = {
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(proof !== undefined && { [IDENTITY_HEADER]: proof.assertion }),
  };
  const req = { params, query: {}, headers, method, originalUrl: path, path: '', body: rawBody };
  const sent: Record<string, string> = {};
  let text = '{}';
  const res = {
    req,
    locals: {
      requestId,
      rawBody,
      body,
      ...(proof !== undefined && { identity: { account }, assertionId: proof.id }),
    },
    statusCode: 200,
    setHeader: (name: string, value: unknown) => {
      sent[name] = String(value);
    },
    getHeader: () => undefined,
    end: (content?: string) => {
      if (content !== undefined) text = content;
    },
  };
  await handler(req, res);
  const isJson = sent['Content-Type']?.startsWith('application/json') === true;
  const answered = isJson ? (JSON.parse(text) as object) : { text };
  return { status: res.statusCode, body: answered, headers: sent };
}
