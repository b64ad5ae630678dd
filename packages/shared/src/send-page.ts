import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { HtmlPage, PageScript } from './html.ts';
import { pageStyle } from './page-style.ts';

/** A hash as policies and `integrity` name it. */
export const policyHash = (text: string): string => `sha256-${hash('sha256', text, 'base64')}`;

const usualStyle = policyHash(pageStyle);

const scriptPolicy = ({ hash, loads }: PageScript): string[] => [
  `script-src ${[`'${hash}'`, ...loads].join(' ')}`,
  // It asks for the page again, and for its events.
  "connect-src 'self'",
];

/** A page loads nothing, runs no script but its own, is framed by nobody who is not named, and sends no referrer. */
const policyOf = ({ style, script, hasForm, hasLogo, frameAncestors = [] }: HtmlPage): string =>
  [
    "default-src 'none'",
    `style-src '${style === undefined ? usualStyle : policyHash(style)}'`,
    ...(script === undefined ? [] : scriptPolicy(script)),
    // The logo of a shop is in the page.
    `img-src ${hasLogo === true ? 'data:' : "'none'"}`,
    "base-uri 'none'",
    `form-action ${hasForm === true ? "'self'" : "'none'"}`,
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
  ].join('; ');

const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
} as const;

/** Answers with a page. */
export function sendPage(res: ServerResponse, page: HtmlPage): void {
  for (const [name, value] of Object.entries(pageHeaders)) res.setHeader(name, value);
  res.setHeader('Content-Security-Policy', policyOf(page));
  // It cannot name origins: where some may frame the page, the policy alone says which.
  if ((page.frameAncestors ?? []).length === 0) res.setHeader('X-Frame-Options', 'DENY');
  if (page.language !== undefined) {
    res.setHeader('Content-Language', page.language);
    res.setHeader('Vary', 'Accept-Language');
  }
  sendCompressed(res, page.status, page.html, { isPrivate: page.isPrivate });
}

/**
 * Answers with a text, compressed as the client takes it. The length of what is compressed tells of it, to whoever chooses a text
 * in it and makes a browser ask often (CVE-2013-3587). The only secret of our pages, claim pages too, is their address, without a
 * cookie or a token: who can make a browser ask for one can read it. What comes by a session is private, and is sent as it is.
 */
export function sendCompressed(
  res: ServerResponse,
  status: number,
  text: string | CompressedText,
  { isPrivate = false }: { isPrivate?: boolean | undefined } = {},
): void {
  const encoding = isPrivate ? undefined : encodingOf(String(res.req.headers['accept-encoding'] ?? ''));
  if (!isPrivate) {
    const others = res.getHeader('Vary');
    res.setHeader('Vary', others === undefined ? 'Accept-Encoding' : `${String(others)}, Accept-Encoding`);
  }
  if (encoding !== undefined) res.setHeader('Content-Encoding', encoding);
  const body = bytesOf(text, encoding);
  res.setHeader('Content-Length', body.length);
  res.statusCode = status;
  res.end(res.req.method === 'HEAD' ? undefined : body);
}

type Encoding = 'br' | 'gzip';

/** A text in each form in which it is sent. */
export type CompressedText = Readonly<Record<Encoding | 'identity', Buffer>>;

function bytesOf(text: string | CompressedText, encoding: Encoding | undefined): Buffer {
  if (typeof text !== 'string') return text[encoding ?? 'identity'];
  const bytes = Buffer.from(text);
  return encoding === undefined ? bytes : compressions[encoding](bytes);
}

/** For a text that is sent often and stays the same: it is compressed here alone. */
export function compressedOf(text: string): CompressedText {
  const identity = Buffer.from(text);
  return { identity, br: compressions.br(identity), gzip: compressions.gzip(identity) };
}

/** 21 kB become 2.9 kB by br in 0.2 ms, and 3.9 kB by gzip in 0.1 ms. Higher levels take longer for almost nothing. */
const compressions: Record<Encoding, (bytes: Buffer) => Buffer> = {
  br: (bytes) =>
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes) => gzipSync(bytes, { level: 4 }),
};

/** Browsers send about 30. */
const ACCEPTED_CHARACTERS_MAX = 200;

/** The best encoding that a client takes; undefined when it takes none of ours. Of a long text only the beginning is read. */
export function encodingOf(accepted: string): Encoding | undefined {
  const ones = accepted.slice(0, ACCEPTED_CHARACTERS_MAX).toLowerCase().split(',');
  // Its parameters may be cut off, which may say that it is not taken.
  if (accepted.length > ACCEPTED_CHARACTERS_MAX) ones.pop();
  const taken = new Map(
    ones.map((one) => {
      const [name = '', ...parameters] = one.split(';').map((part) => part.trim());
      return [name, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))];
    }),
  );
  return (['br', 'gzip'] as const).find((encoding) => taken.get(encoding) === true);
}
