import type { Request } from 'express';

/** A request's body: all of it, or why there is none to be had. */
type Body = Buffer | 'too_large' | 'broken_off';

/** How long what is too large is still read, so that the client is done sending when it gets the answer. */
const LINGER_MS = 1_000;

export function hasBody({ headers }: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || length !== '0';
}

/**
 * Reads the whole body before anything is forwarded: an upload that is too large, too slow or cut off never
 * reaches a service.
 */
export function readBody(req: Request, bytesMax: number): Promise<Body> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let tooLarge = false;
    const refuse = () => {
      if (tooLarge) return;
      tooLarge = true;
      chunks = [];
      setTimeout(() => resolve('too_large'), LINGER_MS).unref();
    };
    // eslint-disable-next-line no-restricted-syntax -- a length; Node has refused every request where this header is none
    if (Number.parseInt(req.headers['content-length'] ?? '0', 10) > bytesMax) refuse();
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax) refuse();
      if (!tooLarge) chunks.push(chunk);
    });
    req.on('end', () => resolve(tooLarge ? 'too_large' : Buffer.concat(chunks)));
    req.on('error', () => resolve('broken_off'));
    req.on('close', () => resolve('broken_off'));
  });
}
