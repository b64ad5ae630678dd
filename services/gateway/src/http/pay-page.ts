import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HtmlPage, html, page } from '@quittance/shared/html';
import { sendPage } from '@quittance/shared/send-page';

const REFRESH_SECONDS = 5;

/** The page that a customer sees instead of an error in JSON. */
export const sendPayPage = (res: ServerResponse, status: number): void =>
  sendPage(
    res,
    status === 429 && isPayment(res.req) ? tooManyPayments(waitOf(res)) : pageOf(status, waitOf(res)),
  );

/** The form of a payment link. */
const isPayment = ({ method, url = '' }: IncomingMessage): boolean =>
  method === 'POST' && url.startsWith('/link/');

const tooManyPayments = (seconds: number): HtmlPage =>
  pageWith(
    429,
    'Too many payments were begun here',
    `No payment was begun. The form comes back in ${seconds} seconds: please try again then.`,
    seconds,
  );

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
  if (status === 413) {
    const text = 'Too much was sent. Please go back and try again.';
    return pageWith(status, 'This form cannot be read', text);
  }
  const text = 'The address of this page may have been cut off. Please go back to the shop and try again.';
  return pageWith(status, 'There is no such payment', text);
}

const pageWith = (status: number, title: string, text: string, refreshSeconds?: number): HtmlPage =>
  page(status, title, html`<h1>${title}</h1>\n<p class="soft">${text}</p>`, refreshSeconds);
