import type { IncomingMessage } from 'node:http';

/** A request's body: all of it, or why there is none to be had. */
export type Body = Buffer | 'too_large' | 'broken_off';

export function hasBody(req: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

/**
 * Takes in a whole body before anything is passed on: an upload that is too long, too slow or cut off never
 * reaches a service. What is over the limit is read on and thrown away, so that the client can read the answer.
 */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<Body> {
  // Node has read this header as a number before: anything else never became a request.
  const announced = req.headers['content-length'];
  if (announced !== undefined && Number.parseInt(announced, 10) > maxBytes) {
    req.resume();
    return Promise.resolve('too_large');
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) resolve('too_large');
      else chunks.push(chunk);
    });
    req.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    req.on('error', () => resolve('broken_off'));
    req.on('close', () => resolve('broken_off'));
  });
}
