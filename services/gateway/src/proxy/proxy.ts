import { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import { Readable } from 'node:stream';
import type { Tell } from '@quittance/shared/http';
import { codeOf, type Logger, reason } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import type { Request, Response } from 'express';
import { createProxyMiddleware, type Plugin, proxyEventsPlugin } from 'http-proxy-middleware';
import type { Upstream } from '../domain/routes.ts';
import { renewingAgent } from './agents.ts';
import {
  answerWithoutResponse,
  isEventStream,
  isFile,
  isOver,
  type OpenStreams,
  onlyReads,
  openStreams,
  type ProxiedRequest,
  type ProxyContext,
  proxyContextOf,
  sendFile,
  sendResponse,
} from './proxy-response.ts';

export type ServiceProxy = {
  /** Passes a request on, and its answer back. Ends when the client has an answer. */
  pass(req: Request, res: Response, request: ProxiedRequest): Promise<void>;
  /** Whether the settings name the service: the auditor's URL may be missing, and that of a sandbox usually is. */
  reaches(upstream: Upstream): boolean;
  /** Those that are passed on at this moment. Their clients open them again elsewhere when they end. */
  streams: Pick<OpenStreams, 'end' | 'owners' | 'endOf'>;
  close(): void;
};

type OptionalUpstream = 'auditor' | 'sandbox';

const agentOptions = {
  keepAlive: true,
  maxSockets: 128,
  maxFreeSockets: 64,
  // The socket used last is the least likely to have been closed at the other end meanwhile.
  scheduling: 'lifo',
  // Shorter than a service keeps an idle connection, so that it is closed at this end first.
  timeout: 60_000,
} as const;

/** Streams keep their connections for minutes: with agents of their own they take none from other requests. */
const STREAM_SOCKETS_MAX = 2_048;
/** Of payment pages; the service has a limit of its own, PAGE_STREAMS_MAX. */
const PAGE_STREAM_SOCKETS_MAX = 50_000;

/**
 * Passes requests on to the services: `router` chooses the service and its connections, `on` deals with what becomes of a
 * request. Without `pathRewrite`: a service has the gateway's paths. Without `proxyTimeout`: it limits silence on a
 * socket, and a request is limited as a whole (`endInTime`). A failure is a 503 or 500 and a log line; the client never
 * sees its reason.
 */
export function createProxy(
  urls: Readonly<Record<Exclude<Upstream, OptionalUpstream>, string>> &
    Readonly<Record<OptionalUpstream, string | undefined>>,
  tell: Tell,
  logger: Logger,
): ServiceProxy {
  const streams = openStreams();

  function destinationOf(url: string, maxSockets: number = agentOptions.maxSockets) {
    const { protocol, hostname, port, pathname } = new URL(url);
    return {
      // Taken apart once: a text would be parsed again for each request.
      target: { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port, pathname },
      agent: renewingAgent(protocol, { ...agentOptions, maxSockets }),
      // The connections that are kept may all lead to the replica that has just ended.
      agentOfNewTries: renewingAgent(protocol, { ...agentOptions, maxSockets, keepAlive: false }),
    };
  }
  const services = {
    invoices: destinationOf(urls.invoices),
    payouts: destinationOf(urls.payouts),
    ledger: destinationOf(urls.ledger),
    webhooks: destinationOf(urls.webhooks),
    auditor: urls.auditor === undefined ? undefined : destinationOf(urls.auditor),
    sandbox: urls.sandbox === undefined ? undefined : destinationOf(urls.sandbox),
  } satisfies Record<Upstream, unknown>;
  const ofStreams = {
    ...services,
    webhooks: destinationOf(urls.webhooks, STREAM_SOCKETS_MAX),
    invoices: destinationOf(urls.invoices, PAGE_STREAM_SOCKETS_MAX),
  };

  const proxy = createProxyMiddleware<Request, Response>({
    router(_req, res, options) {
      const context = res === undefined ? undefined : proxyContextOf(res);
      invariant(context !== undefined, 'a request that is passed on has a proxy context');
      const destination = (context.endless ? ofStreams : services)[context.upstream];
      invariant(destination !== undefined, `the settings name the ${context.upstream}`);
      const { target, agent, agentOfNewTries } = destination;
      options.agent = context.tries > 1 ? agentOfNewTries : agent;
      if (context.body !== undefined) options.buffer = Readable.from(context.body);
      return target;
    },
    selfHandleResponse: true,
    on: {
      proxyReq(outgoing, _req, res) {
        // It waited for a socket until its client had an answer.
        if (isOver(res)) outgoing.destroy();
        else noteSending(outgoing, proxyContextOf(res));
      },
      proxyRes(incoming, _req, res) {
        const context = proxyContextOf(res);
        if (context !== undefined) context.answered = true;
        if (context?.endless === true && isEventStream(incoming)) streams.pass(incoming, res, context);
        else if (isFile(incoming)) sendFile(incoming, res, context);
        else sendResponse(incoming, res, fail);
      },
      error(error, req, res) {
        if (!('locals' in res)) throw error;
        const context = proxyContextOf(res);
        if (context === undefined || !mayTryAgain(error, res, context)) return fail(error, res);
        context.tries += 1;
        // The library listens to the answer again each time; Node warns of more than ten.
        res.setMaxListeners(READ_TRIES_MAX * EventEmitter.defaultMaxListeners);
        void proxy(req, res);
      },
    },
    // The library's other plugins build a log line for each answer, and tell clients what went wrong inside.
    ejectPlugins: true,
    plugins: [proxyEventsPlugin as unknown as Plugin<Request, Response>],
  });

  function fail(error: Error, res: Response): void {
    if (isOver(res)) return;
    const context = proxyContextOf(res);
    // Half an answer is out: all that can be told is that the rest does not come.
    if (context?.streaming === true) return void res.destroy();
    const answer = answerWithoutResponse(res);
    const line = { request_id: res.getHeader('X-Request-Id'), upstream: context?.upstream };
    logger.warn({ ...line, status: answer.status, reason: reason(error) }, 'a service did not answer');
    tell(res, answer);
  }

  return {
    pass(req, res, request) {
      const context: ProxyContext = { ...request, tries: 1, sent: false, answered: false, streaming: false };
      res.locals['proxyContext'] = context;
      // Without `next`: what failed comes to `on.error` as well.
      return proxy(req, res);
    },
    reaches: (upstream) => services[upstream] !== undefined,
    streams,
    close() {
      for (const one of [services, ofStreams].flatMap((some) => Object.values(some))) {
        one?.agent.destroy();
        one?.agentOfNewTries.destroy();
      }
    },
  };
}

/** Comes before the first byte is written: a socket that is still connecting has sent nothing. */
function noteSending(outgoing: ClientRequest, context: ProxyContext | undefined): void {
  if (context === undefined) return;
  context.outgoing = outgoing;
  const { socket } = outgoing;
  if (socket?.connecting === true) socket.once('connect', () => (context.sent = true));
  else context.sent = true;
}

const READ_TRIES_MAX = 3;

/**
 * A replica may end while it is asked, in order or killed, and others serve. What only reads is asked again, over a
 * new connection; anything else may have been done, and nobody here can know.
 */
function mayTryAgain(error: Error, res: Response, { tries, answered }: ProxyContext): boolean {
  return (
    onlyReads(res) &&
    !answered &&
    tries < READ_TRIES_MAX &&
    /^(ECONNREFUSED|ECONNRESET|EPIPE)$/.test(codeOf(error) ?? '') &&
    !isOver(res)
  );
}
