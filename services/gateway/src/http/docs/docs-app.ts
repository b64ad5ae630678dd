import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import { docsStyle, documentPage, guidesPage, indexPage, llmsText } from './layout.ts';
import { docsLibrary, type Library } from './library.ts';
import { type Asset, referenceAssets, referencePolicy } from './reference-page.ts';

/** What a path below `/docs` answers, and `/llms.txt`. */
export type DocsAnswer = {
  type: string;
  body: Buffer;
  brotli?: Buffer;
  etag: string;
  policy: string;
  /** Its name changes with its content. */
  isForever?: true;
};

const documentPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', docsStyle, 'base64')}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const nothingPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

function answerOf(type: string, body: string | Buffer, policy: string): DocsAnswer {
  const bytes = Buffer.from(body);
  return { type, body: bytes, policy, etag: `"${hash('sha256', bytes).slice(0, 32)}"` };
}

const page = (body: string): DocsAnswer => answerOf('text/html; charset=utf-8', body, documentPolicy);

function answerTo(path: string, library: Library, publicUrl: string): DocsAnswer | undefined {
  if (path === '/llms.txt')
    return answerOf('text/plain; charset=utf-8', llmsText(library, publicUrl), nothingPolicy);
  const name = path.replace(/^\/docs\/?/, '');
  if (name === '') return page(indexPage(library));
  if (name === 'guides') return page(guidesPage(library));
  if (name === 'reference')
    return answerOf('text/html; charset=utf-8', referenceAssets().page, referencePolicy);
  if (name.startsWith('assets/'))
    return assetAnswer(referenceAssets().assets.get(name.slice('assets/'.length)));
  const picture = library.pictures.get(name);
  if (picture !== undefined) return answerOf('image/svg+xml', picture, nothingPolicy);
  const found = library.pages.get(name.replace(/\.md$/, ''));
  if (found === undefined) return undefined;
  return name.endsWith('.md')
    ? answerOf('text/markdown; charset=utf-8', found.markdown, nothingPolicy)
    : page(documentPage(library, found));
}

function assetAnswer(asset: Asset | undefined): DocsAnswer | undefined {
  if (asset === undefined) return undefined;
  const { type, body, brotli } = asset;
  const answer = { ...answerOf(type, body, nothingPolicy), isForever: true } as const;
  return brotli === undefined ? answer : { ...answer, brotli };
}

const isOfDocs = (path: string): boolean => path === '/llms.txt' || /^\/docs(?:\/|$)/.test(path);

/** Answers of this process, each made at its first request: no more than there are documents. */
const answers = new Map<string, DocsAnswer>();

/** What a path answers; undefined when it is none of the docs. Without a slash at its end, as every path. */
export function docsAnswer(given: string, publicUrl: string): DocsAnswer | undefined {
  const path = given.replace(/(?<=.)\/$/, '');
  if (!isOfDocs(path)) return undefined;
  const key = `${publicUrl} ${path}`;
  const known = answers.get(key);
  if (known !== undefined) return known;
  const answer = answerTo(path, docsLibrary(), publicUrl);
  if (answer !== undefined) answers.set(key, answer);
  return answer;
}

const takesBrotli = (req: Request): boolean => /\bbr\b/.test(String(req.headers['accept-encoding'] ?? ''));

/** Sends a document: whole, or as 304 to who has it. */
export function sendDocs(req: Request, res: Response, answer: DocsAnswer): void {
  res.setHeader('Content-Type', answer.type);
  res.setHeader('Content-Security-Policy', answer.policy);
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('X-Frame-Options', 'DENY');
  res.setHeader('ETag', answer.etag);
  res.setHeader(
    'Cache-Control',
    answer.isForever === true ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
  );
  if (answer.brotli !== undefined) res.setHeader('Vary', 'Accept-Encoding');
  if (req.headers['if-none-match'] === answer.etag) {
    res.statusCode = 304;
    res.end();
    return;
  }
  const isCompressed = answer.brotli !== undefined && takesBrotli(req);
  if (isCompressed) res.setHeader('Content-Encoding', 'br');
  const body = isCompressed ? (answer.brotli ?? answer.body) : answer.body;
  res.setHeader('Content-Length', body.length);
  res.statusCode = 200;
  res.end(req.method === 'HEAD' ? undefined : body);
}
