import { randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FileAnswer, fileAnswer } from './file-answer.ts';

export const DASHBOARD_PATH = '/dashboard';

/** What the set-up, or the build of an image, makes of apps/dashboard. */
const built = fileURLToPath(new URL('../../../../apps/dashboard/dist/', import.meta.url));

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/**
 * Scripts are files of this installation. Style elements have the nonce: libraries make some while they run. Pictures are its
 * own, or what a merchant has chosen as a logo.
 */
const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const filePolicy = "default-src 'none'; frame-ancestors 'none'";

const notBuilt = fileAnswer(
  'text/plain; charset=utf-8',
  'The dashboard is not built in this checkout. Run: node tools/setup.mjs\n',
  filePolicy,
);

export type Dashboard = {
  /** What a path answers; undefined when it is none of the dashboard. */
  answerTo(path: string): FileAnswer | undefined;
};

/** The files of the dashboard. What a page of it is, its own script decides: each path without a file is the same document. */
export function openDashboard(): Dashboard {
  const index = existsSync(join(built, 'index.html'))
    ? readFileSync(join(built, 'index.html'), 'utf8')
    : undefined;
  const files = new Set(globSync('assets/*', { cwd: built }).filter((name) => !name.endsWith('.br')));
  const answers = new Map<string, FileAnswer>();
  return {
    answerTo(path) {
      if (!/^\/dashboard(?:\/|$)/.test(path)) return undefined;
      if (index === undefined) return { ...notBuilt, cache: 'never' };
      const name = path.slice(`${DASHBOARD_PATH}/`.length);
      if (!name.startsWith('assets/')) return document(index);
      if (!files.has(name)) return undefined;
      const answer = answers.get(name) ?? asset(name);
      answers.set(name, answer);
      return answer;
    },
  };
}

function document(index: string): FileAnswer {
  const nonce = randomBytes(16).toString('base64');
  const html = index.replace('<script ', `<script nonce="${nonce}" `);
  return { ...fileAnswer('text/html; charset=utf-8', html, policyOf(nonce)), cache: 'never' };
}

function asset(name: string): FileAnswer {
  const body = readFileSync(join(built, name));
  // The build has compressed it as far as that goes.
  const brotli = readFileSync(join(built, `${name}.br`));
  const type = types[extname(name)] ?? 'application/octet-stream';
  return { ...fileAnswer(type, body, filePolicy), brotli, cache: 'forever' };
}
