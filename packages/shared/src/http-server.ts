import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import { sleep } from './clock.ts';
import { type ErrorCode, errorCodes } from './error-codes.ts';
import { answers, makePrivate, privateAnswer, send } from './http-answers.ts';
import { whyNotListening } from './readiness.ts';

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
const unreadable: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};
const reasons: Readonly<Record<number, string>> = {
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
};

function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  const answering =
    (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true;
  if (!socket.writable || answering || error.code === 'ECONNRESET') return void socket.destroy();
  const code = unreadable[error.code ?? ''] ?? 'bad_request';
  const { status, remedy } = errorCodes[code];
  const message = reasons[status] ?? 'Bad Request';
  const text = JSON.stringify({ message, code, hint: remedy });
  const head = [
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${text.length}`,
    'Connection: close',
    ...Object.entries(privateAnswer).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`HTTP/1.1 ${status} ${message}\r\n${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
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
