import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Request, Response } from 'express';

/** Where the reference of the API is served, to everybody. */
export const OPENAPI_PATH = '/api/openapi.json';

/** Written by tools/generate-docs.ts. */
const text = readFileSync(new URL('../../openapi.json', import.meta.url));
const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;

/** The same for everybody, and another only after an update: whoever has it asks whether it is still this one. */
export function sendOpenApi(req: Request, res: Response): void {
  res.setHeader('Cache-Control', 'public, max-age=300');
  res.setHeader('ETag', etag);
  if (isKnown(req, etag)) return void res.writeHead(304).end();
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', text.length);
  res.end(req.method === 'HEAD' ? undefined : text);
}

/** A proxy that compresses an answer makes its ETag weak: `W/"…"`. */
export function isKnown({ headers }: Request, etag: string): boolean {
  const { 'if-none-match': header = '' } = headers;
  return header === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}
