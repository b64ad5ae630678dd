import { type ClientRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import { type Answer, answers } from '@quittance/shared/http';
import { type Logger, reason } from '@quittance/shared/logger';
import type { Request, Response } from 'express';
import { createProxyMiddleware, type RequestHandler } from 'http-proxy-middleware';
import { isReturned } from './domain/forwarded.ts';
import type { Upstream } from './domain/routes.ts';
import { tell } from './pay-page.ts';

/** One request on its way to a service. */
export type Passage = {
  upstream: Upstream;
  /** All of the client's body, when it has one. */
  body: Buffer | undefined;
  tries: number;
  /** Undefined while it waits for a socket. */
  outgoing: ClientRequest | undefined;
  /** Whether a byte of it may have reached the service: from then on nobody here knows what was done. */
  sent: boolean;
};

export type ServiceProxy = {
  /** Passes a request on, and its answer back. Ends when the client has an answer. */
  pass(req: Request, res: Response): Promise<void>;
  close(): void;
};

const agentOptions = {
  keepAlive: true,
  maxSockets: 128,
  maxFreeSockets: 64,
  // The socket used last is the least likely to have been closed at the other end meanwhile.
  scheduling: 'lifo',
  // Shorter than a service keeps an idle connection, so that it is closed at this end first.
  timeout: 60_000,
} as const;

export const passageOf = (res: Response): Passage | undefined => res.locals['passage'] as Passage | undefined;

/**
 * What a client is told whose request got no answer. 503 promises that nothing was done: true of what only reads
 * and of what was never sent. Anything else may have been done, and 500 promises nothing.
 */
export function lost(res: Response): Answer {
  const reads = res.req.method === 'GET' || res.req.method === 'HEAD';
  return reads || passageOf(res)?.sent !== true ? answers.unavailable : answers.serverError;
}

/** The client has its answer or is gone: whatever still happens is of no interest. */
export const isOver = (res: Response): boolean => res.writableEnded || res.destroyed;

/** Passes requests on to the services. What goes wrong there is a 503 or 500 here and a log line, never a word to the client. */
export function createProxy(urls: Readonly<Record<Upstream, string>>, logger: Logger): ServiceProxy {
  const agents: HttpAgent[] = [];

  function towards(upstream: Upstream): RequestHandler<Request, Response> {
    const { protocol, hostname, port, pathname } = new URL(urls[upstream]);
    const agent = protocol === 'https:' ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
    agents.push(agent);
    // Taken apart once: a text would be parsed again for each request.
    const target = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port, pathname };
    return createProxyMiddleware<Request, Response>({
      target,
      agent,
      selfHandleResponse: true,
      router: (_req, res, options) => {
        const body = res === undefined ? undefined : passageOf(res)?.body;
        if (body !== undefined) options.buffer = Readable.from(body);
        return target;
      },
      // The library's own plugins build a log line for each answer, and tell clients what went wrong inside.
      ejectPlugins: true,
      plugins: [
        (proxy) => {
          proxy.on('proxyReq', (outgoing, _req, res) => {
            // It waited for a socket for so long that its client has been sent away.
            if (isOver(res)) outgoing.destroy();
            else noteSending(outgoing, passageOf(res));
          });
          proxy.on('proxyRes', (incoming, _req, res) => giveBack(incoming, res, fail));
          proxy.on('error', (error, req, res) => {
            if (req === undefined || res === undefined || !('locals' in res)) throw error;
            if (mayTryAgain(error, req, res)) void pass(req, res);
            else fail(error, res);
          });
        },
      ],
    });
  }

  function fail(error: Error, res: Response): void {
    if (isOver(res)) return;
    const answer = lost(res);
    const line = { request_id: res.getHeader('X-Request-Id'), upstream: passageOf(res)?.upstream };
    logger.warn({ ...line, status: answer.status, reason: reason(error) }, 'a service did not answer');
    tell(res, answer);
  }

  const services: Record<Upstream, RequestHandler<Request, Response>> = {
    invoices: towards('invoices'),
    payouts: towards('payouts'),
    ledger: towards('ledger'),
    webhooks: towards('webhooks'),
  };

  function pass(req: Request, res: Response): Promise<void> {
    const passage = passageOf(res);
    if (passage === undefined) throw new Error('a request without a passage goes nowhere');
    passage.tries += 1;
    return services[passage.upstream](req, res);
  }

  return {
    pass,
    close: () => {
      for (const agent of agents) agent.destroy();
    },
  };
}

/** Comes before the first byte is written: a socket that is still connecting has sent nothing. */
function noteSending(outgoing: ClientRequest, passage: Passage | undefined): void {
  if (passage === undefined) return;
  passage.outgoing = outgoing;
  const { socket } = outgoing;
  if (socket?.connecting === true) socket.once('connect', () => (passage.sent = true));
  else passage.sent = true;
}

/**
 * A kept connection may be closed by the service at the very moment it is used again, as when it restarts. What
 * only reads is asked once more; anything else may have been done, and nobody here can know.
 */
function mayTryAgain(error: Error, req: Request, res: Response): boolean {
  const passage = passageOf(res);
  return (
    (req.method === 'GET' || req.method === 'HEAD') &&
    passage?.tries === 1 &&
    passage.outgoing?.reusedSocket === true &&
    'code' in error &&
    (error.code === 'ECONNRESET' || error.code === 'EPIPE') &&
    !isOver(res)
  );
}

/** Answers are small: taken in whole, one that breaks off half way can still become an honest refusal. */
function giveBack(
  incoming: IncomingMessage,
  res: Response,
  fail: (error: Error, res: Response) => void,
): void {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('error', (error) => fail(error, res));
  incoming.on('end', () => {
    if (isOver(res)) return;
    // Latin-1 stands for the bytes as they are; as a text, head and body go out in one piece.
    const body = chunks.map((chunk) => chunk.toString('latin1')).join('');
    res.statusCode = incoming.statusCode ?? 502;
    const { rawHeaders } = incoming;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] ?? '';
      if (isReturned(name.toLowerCase())) res.appendHeader(name, rawHeaders[i + 1] ?? '');
    }
    // The length of an answer to HEAD is that of the body it would have; 204 and 304 have none.
    const length = body.length > 0 ? body.length : incoming.headers['content-length'];
    if (length !== undefined) res.setHeader('Content-Length', length);
    res.end(body, 'latin1');
  });
}
