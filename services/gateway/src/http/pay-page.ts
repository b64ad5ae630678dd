import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HtmlPage, page } from '@quittance/shared/html';
import { languageOf } from '@quittance/shared/page-language';
import { heading } from '@quittance/shared/page-parts';
import { textsOf } from '@quittance/shared/page-texts/texts';
import { sendPage } from '@quittance/shared/send-page';

const REFRESH_SECONDS = 5;

/** The page that a customer sees instead of an error in JSON, in the customer's language. */
export const sendPayPage = (res: ServerResponse, status: number): void =>
  sendPage(res, pageOf(res.req, status, waitOf(res)));

/** The form of a payment link. */
const isPayment = ({ method, url = '' }: IncomingMessage): boolean =>
  method === 'POST' && url.startsWith('/link/');

/** As long as the client was told to wait. */
function waitOf(res: ServerResponse): number {
  // eslint-disable-next-line no-restricted-syntax -- seconds
  const told = Number(res.getHeader('Retry-After') ?? 0);
  return Math.max(REFRESH_SECONDS, told || 0);
}

function pageOf(req: IncomingMessage, status: number, seconds: number): HtmlPage {
  const language = languageOf(req.headers['accept-language']);
  const texts = textsOf(language);
  const { notice } = texts;
  const show = (title: string, text: string, refresh?: { seconds: number }) =>
    page(title, heading(undefined, title, text), { texts, language, status, refresh });
  if (status === 429) {
    const { title, text } = isPayment(req) ? notice.tooManyPayments : notice.tooOften;
    return show(title, text(seconds), { seconds });
  }
  if (status >= 500) return show(notice.away.title, notice.away.text, { seconds });
  const { title, text } = status === 413 ? notice.tooLarge : notice.unknown;
  return show(title, text);
}
