import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Answer, send } from '@quittance/shared/http-answers';

const REFRESH_SECONDS = 5;

const style = `
:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;font:16px/1.5 system-ui,sans-serif}
main{max-width:26rem;padding:1.5rem}
h1{margin:0;font-size:1.5rem}
`;

/** As strict as the payment page's own: nothing is loaded, nothing runs, nobody may frame it. */
const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "img-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
} as const;

/**
 * What the gateway itself answers: JSON to programs, a page to people who pay. A customer who reads JSON on the way
 * to pay is a customer lost.
 */
export function tell(res: ServerResponse, answer: Answer): void {
  if (!/^\/pay(?:[/?]|$)/.test(res.req.url ?? '')) {
    send(res, answer);
    return;
  }
  for (const [name, value] of Object.entries({ ...answer.headers, ...headers })) res.setHeader(name, value);
  const passes = answer.status === 429 || answer.status >= 500;
  const html = passes ? passingPage(answer.status, waitOf(res)) : unknownPage;
  res.setHeader('Content-Length', Buffer.byteLength(html));
  res.statusCode = answer.status;
  res.end(res.req.method === 'HEAD' ? undefined : html);
}

/** As long as the client was told to wait. */
function waitOf(res: ServerResponse): number {
  // eslint-disable-next-line no-restricted-syntax -- seconds
  const told = Number(res.getHeader('Retry-After') ?? 0);
  return Math.max(REFRESH_SECONDS, told || 0);
}

function passingPage(status: number, seconds: number): string {
  const refresh = `<meta http-equiv="refresh" content="${seconds}">`;
  return status === 429
    ? page(
        'This page was asked for too often',
        `It comes back by itself in ${seconds} seconds: please leave it open. Money that was sent is safe.`,
        refresh,
      )
    : page('This page is back in a moment', 'It asks again by itself. Money that was sent is safe.', refresh);
}

const unknownPage = page(
  'There is no such payment',
  'The address of this page may have been cut off. Please go back to the shop and try again.',
);

function page(title: string, text: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>
</main>
</body>
</html>
`;
}
