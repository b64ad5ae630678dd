import { isDatabaseDown } from '@quittance/shared/db-errors';
import type { HtmlPage } from '@quittance/shared/html';
import { readBody, Unavailable } from '@quittance/shared/http';
import { reason } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';
import { sendPage } from '@quittance/shared/send-page';
import type { Express, Request, Response } from 'express';
import {
  type ClaimReply,
  claimPage,
  failedClaimPage,
  type ShownClaim,
  unavailableClaimPage,
  unknownClaimPage,
} from '../claim-page.ts';
import { claimHashOf } from '../claim-token.ts';
import { type ClaimRefusal, payClaim } from '../operations/claim-refund.ts';
import type { Ports } from '../ports.ts';
import { shownState } from '../refund-views.ts';
import { findPayout } from '../store/payouts.ts';
import type { StoredRefund } from '../store/refund-rows.ts';
import { findRefundByClaim } from '../store/refunds.ts';

/** The page of a claim link, for whoever has the link. */
export function routeClaims(app: Express, ports: Ports): void {
  app.get('/claim/:token', (req, res) => answer(ports, req, res, (refund) => show(ports, refund)));
  app.post('/claim/:token', ...readBody, (req, res) =>
    answer(ports, req, res, (refund) =>
      claim(ports, refund, typedAddress(res), String(res.locals['requestId'])),
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
  run: (refund: StoredRefund) => Promise<Outcome>,
): Promise<void> {
  const token = String(req.params['token']);
  const outcome = await outcomeOf(ports, token, run);
  if (outcome !== 'see_page') return sendPage(res, outcome);
  // Relative, so that the customer stays on the host where the link was opened. A path may end with a slash.
  res.setHeader('Location', req.path.endsWith('/') ? `../${token}` : token);
  res.statusCode = 303;
  res.end();
}

async function outcomeOf(
  ports: Ports,
  token: string,
  run: (refund: StoredRefund) => Promise<Outcome>,
): Promise<Outcome> {
  try {
    // Any other text is no token: the database need not be asked.
    const refund = /^[\w-]{27}$/.test(token)
      ? await findRefundByClaim(ports.db, claimHashOf(token))
      : undefined;
    return refund === undefined ? unknownClaimPage : await run(refund);
  } catch (error) {
    const line = { reason: reason(error) };
    if (error instanceof Unavailable || isDatabaseDown(error)) {
      ports.logger.warn(line, 'a claim link cannot be served: something needed is away');
      return unavailableClaimPage;
    }
    ports.logger.error({ ...line, err: error }, 'a request of a claim link failed');
    return failedClaimPage;
  }
}

function typedAddress(res: Response): string {
  const raw: unknown = res.locals['rawBody'];
  return Buffer.isBuffer(raw) ? (new URLSearchParams(raw.toString('utf8')).get('address') ?? '') : '';
}

const shownClaim = async ({ db, clock, quotes }: Ports, refund: StoredRefund): Promise<ShownClaim> => {
  const quote = quotes.latest(refund.asset);
  return {
    refund,
    payout: refund.payoutId === null ? undefined : await findPayout(db, refund.payoutId),
    networkFee: quote === undefined ? null : units(quote.network_fee),
    now: clock.now(),
  };
};

const show = async (
  ports: Ports,
  refund: StoredRefund,
  status?: number,
  reply?: ClaimReply,
): Promise<HtmlPage> => claimPage(await shownClaim(ports, refund), status, reply);

async function claim(ports: Ports, refund: StoredRefund, typed: string, requestId: string): Promise<Outcome> {
  if (shownState(refund, ports.clock.now()) !== 'claimable') return 'see_page';
  const paid = await payClaim(ports, refund, { address: typed }, requestId);
  return paid.ok ? 'see_page' : refusedPage(ports, refund, typed, paid.refusal);
}

const ASK_SHOP = 'Nothing was paid. Please ask the shop.';

async function refusedPage(
  ports: Ports,
  refund: StoredRefund,
  typed: string,
  refusal: ClaimRefusal,
): Promise<Outcome> {
  const again = (status: number, problem: string) => show(ports, refund, status, { typed, problem });
  if (typeof refusal === 'object') {
    const [problem] = Object.values(refusal).flat();
    const { message = '', hint } = problem ?? {};
    return again(422, hint === undefined ? message : `${message} ${hint}`);
  }
  switch (refusal) {
    case 'not_claimable':
      return 'see_page';
    case 'balance':
      return again(
        409,
        `The shop cannot pay it at the moment: the shop has to act. ${ASK_SHOP} This link stays valid.`,
      );
    case 'reversed':
      return again(
        409,
        'The payment is not final on the network any more. Nothing was paid. This link stays valid: please try again later, or ask the shop.',
      );
    case 'resolved':
      return again(409, `The shop has decided otherwise about this money: the shop has to act. ${ASK_SHOP}`);
    case 'fee':
      return again(409, `It is too little to be sent on this network at the moment. ${ASK_SHOP}`);
    case 'unavailable':
      return again(503, 'It cannot be paid right now. Nothing was paid: please try again in a moment.');
    default:
      return assertNever(refusal);
  }
}
