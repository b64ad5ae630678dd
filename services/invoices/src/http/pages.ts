import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDatabaseDown, UnknownOutcome } from '@quittance/shared/db-errors';
import { form } from '@quittance/shared/form';
import type { HtmlPage } from '@quittance/shared/html';
import { readQuery, Unavailable } from '@quittance/shared/http';
import { type Answer, send } from '@quittance/shared/http-answers';
import type { AccountId, InvoiceId } from '@quittance/shared/ids';
import { type Logger, reason } from '@quittance/shared/logger';
import { sendPage } from '@quittance/shared/send-page';
import { type PageFor, pageFor } from '@quittance/shared/shop-page';
import { type FieldErrors, messagesOf, rules } from '@quittance/shared/validation';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { type ChoiceProblem, choicePage, unknownChoicePage } from '../choice-page.ts';
import { isInvoiceId } from '../domain/invoice.ts';
import {
  type CountedLink,
  isAttempt,
  isPaymentLinkId,
  newAttempt,
  typedAmount,
} from '../domain/payment-link.ts';
import {
  ambiguousAmount,
  badAmount,
  type LinkProblem,
  linkPage,
  nothingOffered,
  otherAmount,
  tooManyOpen,
  unknownPayment,
} from '../link-page.ts';
import { chooseAsset } from '../operations/choose-asset.ts';
import { findInvoice } from '../operations/find-invoice.ts';
import { type PayRefusal, payLink } from '../operations/pay-link.ts';
import { failedPage, paymentPage, unavailablePage, unknownPage } from '../payment-page.ts';
import type { Ports } from '../ports.ts';
import { pathBelow } from '../shown-names.ts';
import type { FoundInvoice } from '../store/invoice-reads.ts';
import { findLink } from '../store/payment-links.ts';

/** A page, or the path of another one, which is asked for by GET. */
type Shown = HtmlPage | { seeOther: string };

/** The hosted pages, for whoever has their address. A customer always gets a page, also when something fails. */
export function routePages(app: Express, ports: Ports): void {
  const handle =
    (show: (req: Request, res: Response) => Promise<Shown>): RequestHandler =>
    async (req, res) => {
      const shown = await orUnavailable(ports.logger, req, () => show(req, res));
      if (!('seeOther' in shown)) return sendPage(res, shown);
      res.setHeader('Location', shown.seeOther);
      res.statusCode = 303;
      res.end();
    };
  app.get(
    '/pay/:id',
    handle((req) => pay(ports, req)),
  );
  // The page after a choice that failed has this address: who loads it again, gets the payment page.
  app.get(
    '/pay/:id/choose',
    handle((req) => choosing(ports, req)),
  );
  const inFlight: ChoicesInFlight = new Map();
  app.post(
    '/pay/:id/choose',
    readForm,
    handle((req, res) => choose(ports, inFlight, req, res)),
  );
  app.get(
    '/link/:id',
    handle((req) => showLink(ports, req)),
  );
  app.post(
    '/link/:id',
    readForm,
    handle((req, res) => openLink(ports, req, res)),
  );
}

const idIn = (req: Request): string => String(req.params['id']);

/** The fields of our forms are short. The gateway has the same limit. */
const FORM_BYTES_MAX = 4_096;
const readForm = express.raw({ type: () => true, limit: FORM_BYTES_MAX, inflate: false });
const FIELD_CHARACTERS_MAX = 255;

/** `application/x-www-form-urlencoded`, as browsers send it. */
const fieldsOf = ({ body }: Request): Record<string, unknown> =>
  readQuery(Buffer.isBuffer(body) ? body.toString('utf8') : '', []);

const isPage = (res: ServerResponse): boolean => /^\/(?:pay|link)(?:[/?]|$)/.test(res.req.url ?? '');

/** What a route threw, as a page where a customer sees it. */
export function sendPageOrJson(res: ServerResponse, answer: Answer): void {
  if (!isPage(res)) {
    send(res, answer);
    return;
  }
  for (const [name, value] of Object.entries(answer.headers ?? {})) res.setHeader(name, value);
  const show = answer.status >= 500 ? failedPage : unknownPage;
  sendPage(res, show(wantedLanguage(res.req), answer.status));
}

const wantedLanguage = ({ headers }: IncomingMessage): string | undefined => headers['accept-language'];

/** Whose page it is, in the language of the shop or of the reader. */
const pageOf = async (ports: Ports, req: Request, { account }: { account: AccountId }): Promise<PageFor> =>
  pageFor(wantedLanguage(req), await ports.shopOf(account));

async function orUnavailable(logger: Logger, req: Request, show: () => Promise<Shown>): Promise<Shown> {
  try {
    return await show();
  } catch (error) {
    if (error instanceof UnknownOutcome || !isDatabaseDown(error)) throw error;
    logger.warn({ reason: reason(error) }, 'a page cannot be shown: the database is unavailable');
    return unavailablePage(wantedLanguage(req));
  }
}

async function pay(ports: Ports, req: Request): Promise<HtmlPage> {
  const id = idIn(req);
  // Read first: what changes afterwards is told by the events of the page.
  const version = isInvoiceId(id) ? await ports.pageVersion(id) : undefined;
  const found = version === undefined ? undefined : await invoiceIn(ports, req);
  if (found === undefined) return unknownPage(wantedLanguage(req));
  const to = await pageOf(ports, req, 'invoice' in found ? found.invoice : found);
  const now = ports.clock.now();
  return 'invoice' in found
    ? paymentPage(found, ports, to, now, { stays: req.query['stay'] !== undefined, version })
    : choicePage(found, ports, to, now, { version });
}

async function invoiceIn(ports: Ports, req: Request): Promise<FoundInvoice | undefined> {
  const id = idIn(req);
  return isInvoiceId(id) ? await findInvoice(ports, id) : undefined;
}

const paymentPath = ({ settings }: Ports, id: string): string => pathBelow(settings, `/pay/${id}`);

async function choosing(ports: Ports, req: Request): Promise<Shown> {
  const found = await invoiceIn(ports, req);
  return found === undefined ? unknownPage(wantedLanguage(req)) : { seeOther: paymentPath(ports, idIn(req)) };
}

/** Choices that have begun and not ended, by invoice. */
type ChoicesInFlight = Map<InvoiceId, Promise<unknown>>;

const choiceForm = form({ asset: rules.text(FIELD_CHARACTERS_MAX).required });

/** Whatever was chosen, here or elsewhere before, the payment page shows it. */
async function choose(ports: Ports, inFlight: ChoicesInFlight, req: Request, res: Response): Promise<Shown> {
  const id = idIn(req);
  const found = await invoiceIn(ports, req);
  if (found === undefined || !isInvoiceId(id)) return unknownPage(wantedLanguage(req));
  const seeOther = paymentPath(ports, id);
  if ('invoice' in found) return { seeOther };
  const given = choiceForm(fieldsOf(req));
  const to = await pageOf(ports, req, found);
  const again = (problem: ChoiceProblem) => choicePage(found, ports, to, ports.clock.now(), { problem });
  if (!given.ok) return again('not_offered');
  // Each choice takes an address, and one of them is used: whoever sends a thousand at once takes no more.
  const other = inFlight.get(id);
  if (other !== undefined) {
    await other.catch(() => undefined);
    return { seeOther };
  }
  const choice = chooseAsset(ports, { id, text: given.value.asset, requestId: requestIdOf(res) });
  inFlight.set(id, choice);
  try {
    const chosen = await choice;
    if (!chosen.ok) {
      if (chosen.refusal === 'expired') return { seeOther };
      if (chosen.refusal !== 'too_late') return again(chosen.refusal);
      return { ...(await pay(ports, req)), status: 409 };
    }
    if (chosen.value) ports.wakeRelay();
    return { seeOther };
  } catch (error) {
    if (error instanceof UnknownOutcome) {
      ports.logger.error({ invoice: id, reason: reason(error.cause) }, error.message);
      return unknownChoicePage(seeOther, wantedLanguage(req));
    }
    if (!(error instanceof Unavailable)) throw error;
    ports.logger.warn({ invoice: id, reason: reason(error) }, 'an asset cannot be chosen now');
    return again('unavailable');
  } finally {
    inFlight.delete(id);
  }
}

const requestIdOf = (res: Response): string => String(res.getHeader('X-Request-Id'));

async function showLink(ports: Ports, req: Request): Promise<HtmlPage> {
  const link = await linkIn(ports, req);
  if (link === undefined) return unknownPage(wantedLanguage(req));
  const to = await pageOf(ports, req, link);
  return linkPage(link, ports, to, ports.clock.now(), { attempt: newAttempt(ports.random) });
}

async function linkIn(ports: Ports, req: Request): Promise<CountedLink | undefined> {
  const id = idIn(req);
  return isPaymentLinkId(id) ? await findLink(ports.db, id) : undefined;
}

const linkForm = form({
  amount: rules.text(FIELD_CHARACTERS_MAX).or(''),
  attempt: rules.text(FIELD_CHARACTERS_MAX).or(''),
});

async function openLink(ports: Ports, req: Request, res: Response): Promise<Shown> {
  const id = idIn(req);
  const link = await linkIn(ports, req);
  if (link === undefined) return unknownPage(wantedLanguage(req));
  const to = await pageOf(ports, req, link);
  const given = linkForm(fieldsOf(req));
  const { amount: typed, attempt: sent } = given.ok ? given.value : { amount: '', attempt: '' };
  const attempt = isAttempt(sent) ? sent : undefined;
  const again = (problem: LinkProblem) => {
    // Another amount is another payment. Without a name of its own, a form that is sent again may be a second payment.
    const next = problem === otherAmount ? undefined : attempt;
    const shown = { attempt: next ?? newAttempt(ports.random), problem, typed };
    return linkPage(link, ports, to, ports.clock.now(), shown);
  };
  if (!given.ok) return again(badAmount(given.refusal, true));
  const amount = typedAmount(typed);
  if (amount === 'ambiguous' && link.amountFiat === null) return again(ambiguousAmount);
  try {
    const begun = await payLink(ports, link, { typed: amount, attempt, requestId: requestIdOf(res) });
    if (!begun.ok)
      return begun.refusal === 'ended'
        ? await showLink(ports, req)
        : again(problemOf(ports.logger, res, link, begun.refusal));
    ports.wakeRelay();
    return { seeOther: paymentPath(ports, begun.value) };
  } catch (error) {
    if (error instanceof UnknownOutcome && attempt !== undefined) {
      ports.logger.error({ link: id, reason: reason(error.cause) }, error.message);
      return again(unknownPayment);
    }
    if (!(error instanceof Unavailable)) throw error;
    ports.logger.warn({ link: id, reason: reason(error) }, 'a payment of a link cannot begin now');
    return again(nothingOffered);
  }
}

const FULL_RETRY_SECONDS = 60;

/** Of the fields of the invoice the payer gave the amount alone, or nothing: another problem is one of the link. */
function problemOf(
  logger: Logger,
  res: Response,
  { id, amountFiat, maxOpen }: CountedLink,
  errors: Exclude<PayRefusal, 'ended'>,
): LinkProblem {
  if (errors === 'other_amount') return otherAmount;
  if (errors === 'full') {
    logger.warn({ link: id, max_open: maxOpen }, 'a payment of a link cannot begin: too many are open');
    res.setHeader('Retry-After', String(FULL_RETRY_SECONDS));
    return tooManyOpen;
  }
  if (errors['amount'] !== undefined) {
    const broken = { amount: errors['amount'] };
    if (amountFiat !== null)
      logger.warn({ link: id, reason: textOf(broken) }, 'the amount of a payment link cannot be paid');
    return badAmount(broken, amountFiat === null);
  }
  logger.warn({ link: id, reason: textOf(errors) }, 'a payment of a link cannot begin now');
  return nothingOffered;
}

const textOf = (errors: FieldErrors): string => Object.values(messagesOf(errors)).flat().join(' ');
