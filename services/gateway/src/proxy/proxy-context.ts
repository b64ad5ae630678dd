import type { ClientRequest } from 'node:http';
import { type Answer, answers } from '@quittance/shared/http-answers';
import type { TokenId } from '@quittance/shared/ids';
import type { Response } from 'express';
import type { Upstream } from '../domain/routes.ts';

/** One request on its way to a service. */
export type ProxyContext = {
  upstream: Upstream;
  /** Whose request it is; undefined where no token is asked for. */
  tokenId: TokenId | undefined;
  /** Its answer may be a stream without an end. */
  endless: boolean;
  /** All of the client's body, when it has one. */
  body: Buffer | undefined;
  tries: number;
  /** Undefined while it waits for a socket. */
  outgoing: ClientRequest | undefined;
  /** Whether a byte of it may have reached the service: from then on nobody here knows what was done. */
  sent: boolean;
  /** The answer has begun, and goes on for as long as it likes. */
  streaming: boolean;
};

export const proxyContextOf = (res: Response): ProxyContext | undefined =>
  res.locals['proxyContext'] as ProxyContext | undefined;

/**
 * What a client is told whose request got no answer. 503 promises that nothing was done: true of what only reads
 * and of what was never sent. Anything else may have been done, and 500 promises nothing.
 */
export function answerWithoutResponse(res: Response): Answer {
  const reads = res.req.method === 'GET' || res.req.method === 'HEAD';
  return reads || proxyContextOf(res)?.sent !== true ? answers.unavailable : answers.serverError;
}

/** The client has its answer or is gone: whatever still happens is of no interest. */
export const isOver = (res: Response): boolean => res.writableEnded || res.destroyed;
