import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { compressed, type FileAnswer, fileAnswer } from '../file-answer.ts';
import { docsStyle, documentPage, guidesPage, indexPage, llmsText } from './layout.ts';
import { type Library, readLibrary } from './library.ts';
import { type ReferenceAsset, referenceAssets, referencePolicy } from './reference-page.ts';

/** Where the reference of the API is served. */
const OPENAPI_PATH = '/api/openapi.json';

const documentPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', docsStyle, 'base64')}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const nothingPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const page = (body: string): FileAnswer => fileAnswer('text/html; charset=utf-8', body, documentPolicy);

type Parts = { library: Library; reference: ReturnType<typeof referenceAssets>; openApi: FileAnswer };

/** tools/generate-docs.ts writes it. */
function openApiAnswer(): FileAnswer {
  const text = readFileSync(new URL('../../../openapi.json', import.meta.url));
  return { ...fileAnswer('application/json; charset=utf-8', text, nothingPolicy), brotli: compressed(text) };
}

function answerOf(
  path: string,
  { library, reference, openApi }: Parts,
  publicUrl: string,
): FileAnswer | undefined {
  if (path === OPENAPI_PATH) return openApi;
  if (path === '/llms.txt')
    return fileAnswer('text/plain; charset=utf-8', llmsText(library, publicUrl), nothingPolicy);
  const name = path.replace(/^\/docs\/?/, '');
  if (name === '') return page(indexPage(library));
  if (name === 'guides') return page(guidesPage(library));
  if (name === 'reference') return fileAnswer('text/html; charset=utf-8', reference.page, referencePolicy);
  if (name.startsWith('assets/')) return assetAnswer(reference.assets.get(name.slice('assets/'.length)));
  const picture = library.pictures.get(name);
  if (picture !== undefined) return fileAnswer('image/svg+xml', picture, nothingPolicy);
  const found = library.pages.get(name.replace(/\.md$/, ''));
  if (found === undefined) return undefined;
  return name.endsWith('.md')
    ? fileAnswer('text/markdown; charset=utf-8', found.markdown, nothingPolicy)
    : page(documentPage(library, found));
}

function assetAnswer(asset: ReferenceAsset | undefined): FileAnswer | undefined {
  if (asset === undefined) return undefined;
  const { type, body, brotli } = asset;
  const whole = { ...fileAnswer(type, body, nothingPolicy), cache: 'forever' } as const;
  return brotli === undefined ? whole : { ...whole, brotli };
}

const isOfDocs = (path: string): boolean =>
  path === '/llms.txt' || path === OPENAPI_PATH || /^\/docs(?:\/|$)/.test(path);

export type Docs = {
  /** What a path answers; undefined when it is none of the docs. */
  answerTo(path: string): FileAnswer | undefined;
};

// eslint-disable-next-line no-restricted-syntax -- files of the release, which never change: two gateways may share them
let read: Parts | undefined;

/** Reads and renders the documents at the first request for one, once for each process; and each answer when it is asked for. */
export function openDocs(publicUrl: string): Docs {
  const answers = new Map<string, FileAnswer>();
  return {
    answerTo(given) {
      // A slash at the end changes nothing, as elsewhere.
      const path = given.replace(/(?<=.)\/$/, '');
      if (!isOfDocs(path)) return undefined;
      read ??= { library: readLibrary(), reference: referenceAssets(), openApi: openApiAnswer() };
      const answer = answers.get(path) ?? answerOf(path, read, publicUrl);
      if (answer !== undefined) answers.set(path, answer);
      return answer;
    },
  };
}
