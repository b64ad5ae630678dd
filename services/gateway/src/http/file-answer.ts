import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { encodingOf } from '@quittance/shared/send-page';
import type { Request, Response } from 'express';

/** A file of this release: a document, or a part of the dashboard. */
export type FileAnswer = {
  type: string;
  body: Buffer;
  brotli?: Buffer;
  etag: string;
  policy: string;
  /** How long who has it need not ask again: `forever` where its name changes with its content. Minutes when not given. */
  cache?: 'forever' | 'never';
};

/** Where browsers look for the icon of a page that names none. */
export const ICON_PATH = '/favicon.ico';

export const iconAnswer = (): FileAnswer =>
  fileAnswer(
    'image/svg+xml',
    readFileSync(new URL('../../assets/icon.svg', import.meta.url)),
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  );

export function fileAnswer(type: string, body: string | Buffer, policy: string): FileAnswer {
  const bytes = Buffer.from(body);
  return { type, body: bytes, policy, etag: `"${hash('sha256', bytes).slice(0, 32)}"` };
}

/** Takes 20 ms for 500 kB. The highest takes over a second, for a sixth less. */
const BROTLI_QUALITY = 6;

export const compressed = (body: Buffer): Buffer =>
  brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });

const caches = {
  forever: 'public, max-age=31536000, immutable',
  minutes: 'public, max-age=300',
  never: 'no-store',
} as const;

/** A proxy that compresses an answer makes its ETag weak: `W/"…"`. */
function isKnown({ headers }: Request, etag: string): boolean {
  const { 'if-none-match': header = '' } = headers;
  return header === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}

/** Sends a file: whole, or as 304 to who has it. */
export function sendFile(req: Request, res: Response, answer: FileAnswer): void {
  res.setHeader('Content-Type', answer.type);
  res.setHeader('Content-Security-Policy', answer.policy);
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('X-Frame-Options', 'DENY');
  res.setHeader('ETag', answer.etag);
  res.setHeader('Cache-Control', caches[answer.cache ?? 'minutes']);
  if (answer.brotli !== undefined) res.setHeader('Vary', 'Accept-Encoding');
  if (isKnown(req, answer.etag)) {
    res.statusCode = 304;
    res.end();
    return;
  }
  const takesBrotli = encodingOf(String(req.headers['accept-encoding'] ?? '')) === 'br';
  const brotli = takesBrotli ? answer.brotli : undefined;
  if (brotli !== undefined) res.setHeader('Content-Encoding', 'br');
  const body = brotli ?? answer.body;
  res.setHeader('Content-Length', body.length);
  res.statusCode = 200;
  res.end(req.method === 'HEAD' ? undefined : body);
}
