import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import type { Request, Response } from 'express';
import { docsStyle, documentPage, guidesPage, indexPage, llmsText } from './layout.ts';
import { type Library, readLibrary } from './library.ts';
import { type PageAsset, referenceAssets, referencePolicy } from './reference-page.ts';

/** Where the reference of the API is served. */
const OPENAPI_PATH = '/api/openapi.json';

/** What a path below `/docs` answers, and `/llms.txt`, and the reference of the API. */
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

function answer(type: string, body: string | Buffer, policy: string): DocsAnswer {
  const bytes = Buffer.from(body);
  return { type, body: bytes, policy, etag: `"${hash('sha256', bytes).slice(0, 32)}"` };
}

const page = (body: string): DocsAnswer => answer('text/html; charset=utf-8', body, documentPolicy);

type Parts = { library: Library; reference: ReturnType<typeof referenceAssets>; openApi: DocsAnswer };

/** Takes 20 ms. The highest takes over a second, for a sixth less. */
const BROTLI_QUALITY = 6;

/** tools/generate-docs.ts writes it. */
function openApiAnswer(): DocsAnswer {
  const text = readFileSync(new URL('../../../openapi.json', import.meta.url));
  const brotli = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
  return { ...answer('application/json; charset=utf-8', text, nothingPolicy), brotli };
}

function answerOf(
  path: string,
  { library, reference, openApi }: Parts,
  publicUrl: string,
): DocsAnswer | undefined {
  if (path === OPENAPI_PATH) return openApi;
  if (path === '/llms.txt')
    return answer('text/plain; charset=utf-8', llmsText(library, publicUrl), nothingPolicy);
  const name = path.replace(/^\/docs\/?/, '');
  if (name === '') return page(indexPage(library));
  if (name === 'guides') return page(guidesPage(library));
  if (name === 'reference') return answer('text/html; charset=utf-8', reference.page, referencePolicy);
  if (name.startsWith('assets/')) return assetAnswer(reference.assets.get(name.slice('assets/'.length)));
  const picture = library.pictures.get(name);
  if (picture !== undefined) return answer('image/svg+xml', picture, nothingPolicy);
  const found = library.pages.get(name.replace(/\.md$/, ''));
  if (found === undefined) return undefined;
  return name.endsWith('.md')
    ? answer('text/markdown; charset=utf-8', found.markdown, nothingPolicy)
    : page(documentPage(library, found));
}

function assetAnswer(asset: PageAsset | undefined): DocsAnswer | undefined {
  if (asset === undefined) return undefined;
  const { type, body, brotli } = asset;
  const whole = { ...answer(type, body, nothingPolicy), isForever: true } as const;
  return brotli === undefined ? whole : { ...whole, brotli };
}

const isOfDocs = (path: string): boolean =>
  path === '/llms.txt' || path === OPENAPI_PATH || /^\/docs(?:\/|$)/.test(path);

export type Docs = {
  /** What a path answers; undefined when it is none of the docs. */
  answerTo(path: string): DocsAnswer | undefined;
};

// eslint-disable-next-line no-restricted-syntax -- files of the release, which never change: two gateways may share them
let read: Parts | undefined;

/** Reads and renders the documents, once for each process. Each answer is made at the first request for it. */
export function openDocs(publicUrl: string): Docs {
  const answers = new Map<string, DocsAnswer>();
  read ??= { library: readLibrary(), reference: referenceAssets(), openApi: openApiAnswer() };
  const parts = read;
  return {
    answerTo(given) {
      // A slash at the end changes nothing, as elsewhere.
      const path = given.replace(/(?<=.)\/$/, '');
      if (!isOfDocs(path)) return undefined;
      const answer = answers.get(path) ?? answerOf(path, parts, publicUrl);
      if (answer !== undefined) answers.set(path, answer);
      return answer;
    },
  };
}

const takesBrotli = (req: Request): boolean => /\bbr\b/.test(String(req.headers['accept-encoding'] ?? ''));

/** A proxy that compresses an answer makes its ETag weak: `W/"…"`. */
function isKnown({ headers }: Request, etag: string): boolean {
  const { 'if-none-match': header = '' } = headers;
  return header === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}

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
  if (isKnown(req, answer.etag)) {
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
