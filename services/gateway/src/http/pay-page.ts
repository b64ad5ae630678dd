import type { ServerResponse } from 'node:http';
import { type HtmlPage, html, page, sendPage } from '@quittance/shared/html';
import { type Answer, send } from '@quittance/shared/http-answers';

const REFRESH_SECONDS = 5;

/**
 * What the gateway itself answers: JSON to programs, a page to people who pay. A customer who reads JSON on the way
 * to pay is a customer lost.
 */
export function tell(res: ServerResponse, answer: Answer): void {
  if (!/^\/pay(?:[/?]|$)/.test(res.req.url ?? '')) {
    send(res, answer);
    return;
  }
  for (const [name, value] of Object.entries(answer.headers ?? {})) res.setHeader(name, value);
  sendPage(res, pageOf(answer.status, waitOf(res)));
}

/** As long as the client was told to wait. */
function waitOf(res: ServerResponse): number {
  // eslint-disable-next-line no-restricted-syntax -- seconds
  const told = Number(res.getHeader('Retry-After') ?? 0);
  return Math.max(REFRESH_SECONDS, told || 0);
}

function pageOf(status: number, seconds: number): HtmlPage {
  if (status === 429) {
    const text = `It comes back by itself in ${seconds} seconds: please leave it open. Money that was sent is safe.`;
    return pageWith(status, 'This page was asked for too often', text, seconds);
  }
  if (status >= 500) {
    const text = 'It asks again by itself. Money that was sent is safe.';
    return pageWith(status, 'This page is back in a moment', text, seconds);
  }
  const text = 'The address of this page may have been cut off. Please go back to the shop and try again.';
  return pageWith(status, 'There is no such payment', text);
}

const pageWith = (status: number, title: string, text: string, refreshSeconds?: number): HtmlPage =>
  page(status, title, html`<h1>${title}</h1>\n<p class="soft">${text}</p>`, refreshSeconds);
