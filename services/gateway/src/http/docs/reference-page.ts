import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { DOCS_PATH } from './library.ts';

/**
 * The reference of all endpoints, rendered in the browser by Scalar from `/api/openapi.json`. It loads nothing from
 * elsewhere: no fonts, no telemetry, no proxy; its client, which would send requests, and its assistant are off.
 */

export type ReferenceAsset = { type: string; body: Buffer; brotli?: Buffer };

const start = `Scalar.createApiReference('#reference', {
  url: '/api/openapi.json',
  theme: 'none',
  layout: 'modern',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  hideTestRequestButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  proxyUrl: '',
  localization: { translations: { clientLibraries: { heading: 'Examples in' } } },
});

// For screen readers and keyboards: names of buttons, lists that scroll, and landmarks of one name.
const name = () => {
  for (const button of document.querySelectorAll('button.scalar-code-copy:not([aria-label])')) button.setAttribute('aria-label', 'Copy');
  for (const button of document.querySelectorAll('.show-more[aria-label^="Show all "]'))
    button.setAttribute('aria-label', button.textContent.trim() + ': ' + button.getAttribute('aria-label').slice(9));
  for (const list of document.querySelectorAll('ul.endpoints:not([tabindex])')) list.tabIndex = 0;
  for (const card of document.querySelectorAll('.response-card[role=region]')) card.setAttribute('role', 'group');
};
new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
name();
`;

/** Colours and fonts of our documents, in the names of Scalar. */
const style = `
:root{--scalar-font:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;--scalar-font-code:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
body{margin:0}
:root{--scalar-custom-header-height:3rem}
.docs{position:sticky;top:0;z-index:10;height:3rem;display:flex;align-items:center;gap:1.25rem;padding:0 1rem;background:Canvas;border-bottom:1px solid #8886;font:16px/1 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color-scheme:light dark}
.docs a{color:CanvasText;text-decoration:none}
.docs a:first-child{font-weight:700;margin-right:auto}
.light-mode{--scalar-color-1:#16181d;--scalar-color-2:#3f4550;--scalar-color-3:#555c69;--scalar-color-accent:#2348c9;
--scalar-background-1:#fff;--scalar-background-2:#f3f4f6;--scalar-background-3:#e6e8ec;--scalar-background-accent:#2348c91a;--scalar-border-color:#dfe2e7;
--scalar-color-green:#0a6b3e;--scalar-color-red:#b3261e;--scalar-color-yellow:#7a5200;--scalar-color-blue:#1d4fc4;--scalar-color-orange:#95420b;--scalar-color-purple:#6d3bbd}
.dark-mode{--scalar-color-1:#e9ebef;--scalar-color-2:#c2c7d0;--scalar-color-3:#a3abb9;--scalar-color-accent:#9db2ff;
--scalar-background-1:#101216;--scalar-background-2:#1a1d23;--scalar-background-3:#262a32;--scalar-background-accent:#9db2ff1f;--scalar-border-color:#2d323b;
--scalar-color-green:#4fd094;--scalar-color-red:#ff8a80;--scalar-color-yellow:#f0b35a;--scalar-color-blue:#8ba6ff;--scalar-color-orange:#ffab70;--scalar-color-purple:#c8a6ff}
`;

const asset = (type: string, body: Buffer, brotli?: Buffer): ReferenceAsset => ({
  type,
  body,
  ...(brotli === undefined ? {} : { brotli }),
});

/** Named by what they contain, so that a browser may keep them. */
export function referenceAssets(): { assets: Map<string, ReferenceAsset>; page: string } {
  const compressed = readFileSync(new URL('../../../assets/scalar.js.br', import.meta.url));
  const script = brotliDecompressSync(compressed);
  const named = (name: string, body: Buffer, extension: string) =>
    `${name}-${hash('sha256', body).slice(0, 16)}.${extension}`;
  const startBody = Buffer.from(start);
  const styleBody = Buffer.from(style);
  const names = {
    script: named('scalar', script, 'js'),
    start: named('start', startBody, 'js'),
    style: named('reference', styleBody, 'css'),
  };
  const assets = new Map([
    [names.script, asset('text/javascript; charset=utf-8', script, compressed)],
    [names.start, asset('text/javascript; charset=utf-8', startBody)],
    [names.style, asset('text/css; charset=utf-8', styleBody)],
  ]);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Endpoints · Quittance</title>
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${DOCS_PATH}/assets/${names.style}">
</head>
<body>
<noscript>This page needs JavaScript. The same is in the <a href="/api/openapi.json">OpenAPI document</a>.</noscript>
<nav class="docs" aria-label="Docs"><a href="${DOCS_PATH}">Quittance docs</a><a href="${DOCS_PATH}/guides">Guides</a></nav>
<div id="reference"></div>
<script src="${DOCS_PATH}/assets/${names.script}"></script>
<script src="${DOCS_PATH}/assets/${names.start}"></script>
</body>
</html>
`;
  return { assets, page };
}

/** The style elements that Scalar adds, by their hashes; it also sets attributes of style, which run nothing. */
const STYLE_HASHES = [
  'd7niGYA9R/xp7r1pyc/+3ntTepKCabnrqd2exao76s4=',
  'DLlkYCuDYGe6ME23YkUFB7Tc36rGDeo4mVBFbZX3uaU=',
  'rO+6k1mDRASa9Q8IQu9I3bF+bjRdxDreAZCyGSaxzeI=',
  '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  'ZW1GSuo0pKyEx5Ar7ZC5Dflb/mjatjeTW9aVx0iZAzE=',
];

export const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src-elem ${["'self'", ...STYLE_HASHES.map((one) => `'sha256-${one}'`)].join(' ')}`,
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
