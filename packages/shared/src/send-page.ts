import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { HtmlPage } from './html.ts';
import { pageStyle } from './page-style.ts';

/** A page loads nothing, runs no script, cannot be framed, and sends no referrer. */
const policyOf = (css: string, formAction: "'none'" | "'self'" = "'none'"): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(css).digest('base64')}'`,
    "img-src 'none'",
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join('; ');

const policyOfForms = policyOf(pageStyle, "'self'");

const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': policyOf(pageStyle),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
} as const;

/** Answers with a page. */
export function sendPage(
  res: ServerResponse,
  { status, html, style: own, hasForm, language }: HtmlPage,
): void {
  for (const [name, value] of Object.entries(pageHeaders)) res.setHeader(name, value);
  if (own !== undefined) res.setHeader('Content-Security-Policy', policyOf(own));
  else if (hasForm === true) res.setHeader('Content-Security-Policy', policyOfForms);
  if (language !== undefined) {
    res.setHeader('Content-Language', language);
    res.setHeader('Vary', 'Accept-Language');
  }
  res.setHeader('Content-Length', Buffer.byteLength(html));
  res.statusCode = status;
  res.end(res.req.method === 'HEAD' ? undefined : html);
}
