import { isDatabaseDown } from '@quittance/shared/db-errors';
import { type HtmlPage, html, page } from '@quittance/shared/html';
import { Unavailable } from '@quittance/shared/http';
import { reason } from '@quittance/shared/logger';
import { heading } from '@quittance/shared/page-parts';
import { textsOf } from '@quittance/shared/page-texts/texts';
import { sendPage } from '@quittance/shared/send-page';
import type { Express, Request, Response } from 'express';
import { findStopLink, hasStopped, unsubscribe } from '../operations/mail-recipients.ts';
import type { Ports } from '../ports.ts';
import type { MailRecipient } from '../store/mail-recipients.ts';

/**
 * The page that each mail links to, for whoever has the link. A GET changes nothing, because mail scanners open links; the POST
 * of its form and that of a mail program (RFC 8058) stop the mails.
 */
export function routeUnsubscribe(app: Express, ports: Ports): void {
  app.get('/unsubscribe/:token', (req, res) => answer(ports, req, res, async (found) => askPage(found)));
  // A body says no more than the path.
  app.post('/unsubscribe/:token', (req, res) =>
    answer(ports, req, res, async (found) => {
      await unsubscribe(ports, found);
      return stoppedPage();
    }),
  );
}

async function answer(
  ports: Ports,
  req: Request,
  res: Response,
  run: (recipient: MailRecipient) => Promise<HtmlPage>,
): Promise<void> {
  const token = String(req.params['token']);
  try {
    const found = /^[\w-]{32}$/.test(token) ? await findStopLink(ports, token) : undefined;
    sendPage(res, found === undefined ? unknownPage() : await run(found));
  } catch (error) {
    const isAway = error instanceof Unavailable || isDatabaseDown(error);
    ports.logger[isAway ? 'warn' : 'error'](
      { reason: reason(error) },
      'a link to stop e-mails cannot be served',
    );
    sendPage(res, shown('Try again in a moment', 'Nothing was changed.', isAway ? 503 : 500));
  }
}

const shown = (title: string, text: string, status = 200, hasForm = false): HtmlPage =>
  page(
    title,
    hasForm
      ? html`${heading(undefined, title, text)}
<form method="post"><button class="button" type="submit">Stop these e-mails</button></form>`
      : heading(undefined, title, text),
    { texts: textsOf('en'), language: 'en', status, hasForm },
  );

const askPage = (recipient: MailRecipient): HtmlPage =>
  hasStopped(recipient)
    ? stoppedPage()
    : shown(
        'Stop these e-mails?',
        `Nothing more is sent to ${recipient.address} about this account.`,
        200,
        true,
      );

const stoppedPage = (): HtmlPage =>
  shown('The e-mails are stopped', 'Nothing more is sent, unless you give somebody a new code for it.');

const unknownPage = (): HtmlPage =>
  shown('This link is not known', 'The address was removed, so that nothing is sent to it any more.', 404);
