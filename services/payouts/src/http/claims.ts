import { assets } from '@quittance/shared/assets';
import { isDatabaseDown } from '@quittance/shared/db-errors';
import type { HtmlPage } from '@quittance/shared/html';
import { readBody, Unavailable } from '@quittance/shared/http';
import { reason } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';
import { sendPage } from '@quittance/shared/send-page';
import { type PageFor, pageFor } from '@quittance/shared/shop-page';
import type { Express, Request, Response } from 'express';
import {
  type ClaimReply,
  claimPage,
  failedClaimPage,
  networkOf,
  type ShownClaim,
  unavailableClaimPage,
  unknownClaimPage,
} from '../claim-page.ts';
import { claimHashOf } from '../claim-token.ts';
import { type ClaimRefusal, payClaim } from '../operations/claim-refund.ts';
import { describeShop } from '../operations/describe-shop.ts';
import type { Ports } from '../ports.ts';
import { shownState } from '../refund-views.ts';
import { findPayout } from '../store/payouts.ts';
import type { StoredRefund } from '../store/refund-rows.ts';
import { findRefundByClaim } from '../store/refunds.ts';

/** The page of a claim link, for whoever has the link. */
export function routeClaims(app: Express, ports: Ports): void {
  app.get('/claim/:token', (req, res) =>
    answer(ports, req, res, (refund, reader) => show(ports, refund, reader)),
  );
  app.post('/claim/:token', ...readBody, (req, res) =>
    answer(ports, req, res, (refund, reader) =>
      claim(ports, refund, reader, { typed: typedAddress(res), requestId: String(res.locals['requestId']) }),
    ),
  );
}

/** Back to the page, which shows the state: reloading it sends nothing again. */
type Outcome = HtmlPage | 'see_page';

/** Whoever opens a link gets a page. The token is in no log line, because whoever has it can claim the refund. */
async function answer(
  ports: Ports,
  req: Request,
  res: Response,
  run: (refund: StoredRefund, reader: PageFor) => Promise<Outcome>,
): Promise<void> {
  const token = String(req.params['token']);
  const outcome = await outcomeOf(ports, token, req.headers['accept-language'], run);
  if (outcome !== 'see_page') return sendPage(res, outcome);
  // Relative, so that the customer stays on the host where the link was opened. A path may end with a slash.
  res.setHeader('Location', req.path.endsWith('/') ? `../${token}` : token);
  res.statusCode = 303;
  res.end();
}

async function outcomeOf(
  ports: Ports,
  token: string,
  acceptLanguage: string | undefined,
  run: (refund: StoredRefund, reader: PageFor) => Promise<Outcome>,
): Promise<Outcome> {
  let reader = pageFor(acceptLanguage);
  try {
    // Any other text is no token: the database need not be asked.
    const refund = /^[\w-]{27}$/.test(token)
      ? await findRefundByClaim(ports.db, claimHashOf(token))
      : undefined;
    if (refund === undefined) return unknownClaimPage(reader);
    reader = pageFor(acceptLanguage, await describeShop(ports, refund.account));
    return await run(refund, reader);
  } catch (error) {
    const line = { reason: reason(error) };
    if (error instanceof Unavailable || isDatabaseDown(error)) {
      ports.logger.warn(line, 'a claim link cannot be served: something needed is away');
      return unavailableClaimPage(reader);
    }
    ports.logger.error({ ...line, err: error }, 'a request of a claim link failed');
    return failedClaimPage(reader);
  }
}

function typedAddress(res: Response): string {
  const raw: unknown = res.locals['rawBody'];
  return Buffer.isBuffer(raw) ? (new URLSearchParams(raw.toString('utf8')).get('address') ?? '') : '';
}

const shownClaim = async (
  { db, clock, quotes, chains }: Ports,
  refund: StoredRefund,
): Promise<ShownClaim> => {
  const quote = quotes.latest(refund.asset);
  const payout = refund.payoutId === null ? undefined : await findPayout(db, refund.payoutId);
  const txHash = payout?.txHash ?? null;
  return {
    refund,
    payout,
    explorerUrl:
      txHash === null ? null : (chains.get(assets[refund.asset].chain)?.explorerUrl(txHash) ?? null),
    networkFee: quote === undefined ? null : units(quote.network_fee),
    now: clock.now(),
  };
};

const show = async (
  ports: Ports,
  refund: StoredRefund,
  reader: PageFor,
  status?: number,
  reply?: ClaimReply,
): Promise<HtmlPage> => claimPage(await shownClaim(ports, refund), reader, status, reply);

async function claim(
  ports: Ports,
  refund: StoredRefund,
  reader: PageFor,
  { typed, requestId }: { typed: string; requestId: string },
): Promise<Outcome> {
  if (shownState(refund, ports.clock.now()) !== 'claimable') return 'see_page';
  const paid = await payClaim(ports, refund, { address: typed }, requestId);
  if (paid.ok) return 'see_page';
  const problem = problemOf(paid.refusal, refund, reader);
  return problem === undefined
    ? 'see_page'
    : await show(ports, refund, reader, problem.status, { typed, problem: problem.text });
}

/** Why nothing was paid; undefined: the page itself shows it. */
function problemOf(
  refusal: ClaimRefusal,
  refund: StoredRefund,
  { texts: { claim }, language }: PageFor,
): { status: number; text: string } | undefined {
  if (typeof refusal === 'object') {
    // What is wrong with an address has its exact words in the English of the API alone.
    if (language !== 'en') return { status: 422, text: claim.noAddress(networkOf(refund)) };
    const [problem] = Object.values(refusal).flat();
    const { message = '', hint } = problem ?? {};
    return { status: 422, text: hint === undefined ? message : `${message} ${hint}` };
  }
  switch (refusal) {
    case 'not_claimable':
      return undefined;
    case 'balance':
    case 'reversed':
    case 'resolved':
    case 'fee':
      return { status: 409, text: claim[refusal] };
    case 'unavailable':
      return { status: 503, text: claim.unavailable };
    default:
      return assertNever(refusal);
  }
}
