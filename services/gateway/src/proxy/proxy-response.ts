import type { ClientRequest, IncomingMessage } from 'node:http';
import { failpoint } from '@quittance/shared/failpoint';
import { type Answer, answers } from '@quittance/shared/http-answers';
import type { SessionId, TokenId } from '@quittance/shared/ids';
import type { Response } from 'express';
import { isReturned } from '../domain/forwarded.ts';
import type { Upstream } from '../domain/routes.ts';

/** A request that is to be passed on. */
export type ProxiedRequest = {
  upstream: Upstream;
  /** The token or the session that it came with; undefined where none is asked for. */
  of: TokenId | SessionId | undefined;
  /** Its answer may be a stream without an end. */
  endless: boolean;
  /** All of the client's body, when it has one. */
  body: Buffer | undefined;
  /** Called when a stream without an end begins. */
  begun: () => void;
};

/** One request on its way to a service. */
export type ProxyContext = ProxiedRequest & {
  /** How often it was sent, this time included. */
  tries: number;
  /** Undefined while it waits for a socket. */
  outgoing?: ClientRequest;
  /** Whether a byte of it may have reached the service: from then on nobody here knows what was done. */
  sent: boolean;
  /** The answer has begun: what breaks off from then on is not asked again. */
  answered: boolean;
  /** The answer has begun, and goes on for as long as it likes. */
  streaming: boolean;
};

export const proxyContextOf = (res: Response): ProxyContext | undefined =>
  res.locals['proxyContext'] as ProxyContext | undefined;

/**
 * What a client is told whose request got no answer. 503 promises that nothing was done: true of what only reads
 * and of what was never sent. Anything else may have been done, and 500 promises nothing.
 */
export const answerWithoutResponse = (res: Response): Answer =>
  onlyReads(res) || proxyContextOf(res)?.sent !== true ? answers.unavailable : answers.serverError;

export const onlyReads = ({ req }: Response): boolean => req.method === 'GET' || req.method === 'HEAD';

/** The client has its answer or is gone: whatever still happens is of no interest. */
export const isOver = (res: Response): boolean => res.writableEnded || res.destroyed;

/** Files can be large. */
export const isFile = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 200 && (headers['content-type'] ?? '').startsWith('text/csv');

/**
 * Passes a file on as it comes, at the pace at which the client reads. Where it breaks off, the client's connection does: a
 * part of a file is never taken for all of it.
 */
export function sendFile(incoming: IncomingMessage, res: Response, context: ProxyContext | undefined): void {
  if (context !== undefined) context.streaming = true;
  sendHead(incoming, res);
  incoming.pipe(res);
  incoming.on('error', () => res.destroy());
  res.on('close', () => incoming.destroy());
}

/** Other answers are small: each is read as a whole, so that one that breaks off can still become an error response. */
export function sendResponse(
  incoming: IncomingMessage,
  res: Response,
  fail: (error: Error, res: Response) => void,
): void {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('error', (error) => fail(error, res));
  incoming.on('end', () => {
    if (isOver(res)) return;
    failpoint('gateway.answered');
    // Latin-1 stands for the bytes as they are; as a text, head and body go out in one piece.
    const body = chunks.map((chunk) => chunk.toString('latin1')).join('');
    sendHead(incoming, res);
    // The length of an answer to HEAD is that of the body it would have; 204 and 304 have none.
    const length = body.length > 0 ? body.length : incoming.headers['content-length'];
    if (length !== undefined) res.setHeader('Content-Length', length);
    res.end(body, 'latin1');
  });
}

function sendHead({ statusCode, headers, rawHeaders }: IncomingMessage, res: Response): void {
  res.statusCode = statusCode ?? 502;
  // What the service says counts, not what every answer says that says nothing else.
  for (const name in headers) if (isReturned(name)) res.removeHeader(name);
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (isReturned(name.toLowerCase())) res.appendHeader(name, rawHeaders[i + 1] ?? '');
  }
}

/** A refusal is an answer like any other, also where a stream was asked for. */
export const isEventStream = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 200 && headers['content-type'] === 'text/event-stream';

/** Who does not read the end of a stream by then keeps no connection for it. */
const DRAINED_WITHIN_MS = 30_000;

export type OpenStreams = ReturnType<typeof openStreams>;

/**
 * Passes streams on as they come, at the pace at which each client reads. When one side breaks off, the proxy breaks
 * off the other.
 */
export function openStreams() {
  const open = new Map<Response, { incoming: IncomingMessage; of: ProxiedRequest['of'] }>();
  let ending = false;

  function end(res: Response, incoming: IncomingMessage): void {
    // The rest of it ends with the client's connection, not before: that would cut off the end.
    incoming.unpipe(res);
    res.end();
  }
  return {
    pass(incoming: IncomingMessage, res: Response, context: ProxyContext): void {
      context.streaming = true;
      sendHead(incoming, res);
      context.begun();
      // Nothing may happen for long, and the client wants to know that it is heard.
      res.flushHeaders();
      incoming.pipe(res);
      incoming.once('close', () => setTimeout(() => res.destroy(), DRAINED_WITHIN_MS).unref());
      open.set(res, { incoming, of: context.of });
      res.on('close', () => open.delete(res));
      if (ending) end(res, incoming);
    },
    /** Ends all, and each that begins from now on. */
    end(): void {
      ending = true;
      for (const [res, { incoming }] of open) end(res, incoming);
    },
    /** The tokens and sessions of those that are open, each once. */
    owners: (): (TokenId | SessionId)[] => [...new Set([...open.values()].flatMap(({ of }) => of ?? []))],
    /** Ends those of these tokens and sessions. */
    endOf(ended: ReadonlySet<TokenId | SessionId>): void {
      for (const [res, { incoming, of }] of open) {
        if (of !== undefined && ended.has(of)) end(res, incoming);
      }
    },
  };
}
