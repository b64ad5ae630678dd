import type { AgentOptions, ClientRequest } from 'node:http';
import { Readable } from 'node:stream';
import { type Logger, reason } from '@quittance/shared/logger';
import type { Request, Response } from 'express';
import { createProxyMiddleware, type RequestHandler } from 'http-proxy-middleware';
import { type RenewingAgent, renewingAgent } from './agents.ts';
import type { Upstream } from './domain/routes.ts';
import { giveBack, isEventStream, type OpenStreams, openStreams } from './giving-back.ts';
import { isOver, lost, type Passage, passageOf } from './passage.ts';
import { tell } from './pay-page.ts';

export type ServiceProxy = {
  /** Passes a request on, and its answer back. Ends when the client has an answer. */
  pass(req: Request, res: Response): Promise<void>;
  /** Those that are passed on at this moment. Their clients open them again elsewhere when they end. */
  streams: Pick<OpenStreams, 'end' | 'tokens' | 'endOf'>;
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

/** Streams keep their connections for minutes: with these of their own they take none from those who ask and go. */
const agentOptionsOfStreams = { ...agentOptions, maxSockets: 2_048 } as const;

/** Passes requests on to the services. What goes wrong there is a 503 or 500 here and a log line, never a word to the client. */
export function createProxy(urls: Readonly<Record<Upstream, string>>, logger: Logger): ServiceProxy {
  const agents: RenewingAgent[] = [];
  const streams = openStreams();

  function towards(
    upstream: Upstream,
    options: AgentOptions = agentOptions,
  ): RequestHandler<Request, Response> {
    const { protocol, hostname, port, pathname } = new URL(urls[upstream]);
    const agent = renewingAgent(protocol, options);
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
          proxy.on('proxyRes', (incoming, _req, res) => {
            const passage = passageOf(res);
            if (passage?.endless === true && isEventStream(incoming)) streams.pass(incoming, res, passage);
            else giveBack(incoming, res, fail);
          });
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
    if (passageOf(res)?.streaming === true) {
      // Half an answer is out: all that can be told is that the rest does not come.
      res.destroy();
      return;
    }
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
  const toStreams = towards('webhooks', agentOptionsOfStreams);

  function pass(req: Request, res: Response): Promise<void> {
    const passage = passageOf(res);
    if (passage === undefined) throw new Error('a request without a passage goes nowhere');
    passage.tries += 1;
    return (passage.endless ? toStreams : services[passage.upstream])(req, res);
  }

  return {
    pass,
    streams,
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
