import { showAddress } from '@quittance/chains/registry';
import { assets } from '@quittance/shared/assets';
import { type Html, type HtmlPage, html } from '@quittance/shared/html';
import { formatUnits, type Units } from '@quittance/shared/money';
import { fromLeft, type Language } from '@quittance/shared/page-language';
import { copied, fact, heading, linkTo, type Mark, timeText } from '@quittance/shared/page-parts';
import type { PageTexts } from '@quittance/shared/page-texts/en';
import { assertNever } from '@quittance/shared/result';
import { type PageFor, shopPage } from '@quittance/shared/shop-page';
import { ADDRESS_CHARACTERS_MAX } from './payout-order.ts';
import { shownState } from './refund-views.ts';
import type { Payout } from './store/payouts.ts';
import type { StoredRefund } from './store/refund-rows.ts';

/** How often a page reloads while the payout is pending. */
const REFRESH_SECONDS = 15;

const noticePage =
  (key: 'unknownClaim' | 'failedClaim' | 'unavailableClaim', status: number) =>
  (reader: PageFor): HtmlPage => {
    const { title, text } = reader.texts.notice[key];
    return shopPage(reader, title, heading(undefined, title, text), { status });
  };

export const unknownClaimPage = noticePage('unknownClaim', 404);
export const failedClaimPage = noticePage('failedClaim', 500);
export const unavailableClaimPage = noticePage('unavailableClaim', 503);

/** What is shown: a refund, and the payout that pays it or has failed to. */
export type ShownClaim = {
  refund: StoredRefund;
  payout: Payout | undefined;
  /** What the network takes of a deposit that is paid back; null while it is not known. */
  networkFee: Units | null;
  /** The page of its transaction in a block explorer, or null. */
  explorerUrl: string | null;
  now: Date;
};

/** What came of an address that was sent. */
export type ClaimReply = { typed: string; problem: string };

/** The page of a claim link. It shows nothing that concerns only the merchant. */
export function claimPage(shown: ShownClaim, reader: PageFor, status = 200, reply?: ClaimReply): HtmlPage {
  const state = shownState(shown.refund, shown.now);
  const isOpen = state === 'claimable';
  const body = html`${headingOf(shown, state, reader)}
<dl class="facts">
${amounts(shown, state, reader)}${paid(shown, state, reader)}</dl>
${explorerLink(shown, state, reader)}${isOpen ? claimForm(shown, reader, reply) : undefined}`;
  const refresh = state === 'pending' ? { seconds: REFRESH_SECONDS } : undefined;
  return shopPage(reader, reader.texts.claim.state[state], body, { status, refresh, hasForm: isOpen });
}

type State = ReturnType<typeof shownState>;

/** How a state looks before it is read. */
const looks = {
  claimable: { tone: '', icon: 'back' },
  pending: { tone: '', icon: 'blocks' },
  completed: { tone: 'good', icon: 'done' },
  failed: { tone: 'warn', icon: 'warning' },
  expired: { tone: 'warn', icon: 'clock' },
  cancelled: { tone: 'warn', icon: 'stopped' },
  voided: { tone: 'warn', icon: 'stopped' },
} as const satisfies Record<State, Omit<Mark, 'name'>>;

function headingOf(shown: ShownClaim, state: State, { texts: { claim }, language }: PageFor): Html {
  const { refund, payout } = shown;
  const isAgain = state === 'claimable' && payout?.status === 'failed';
  const mark = { ...looks[state], ...(isAgain ? { tone: 'warn' as const } : {}), name: claim.state[state] };
  return heading(mark, amountText(refund, refund.amount, language), textOf(shown, state, claim));
}

function textOf({ refund, payout, now }: ShownClaim, state: State, claim: PageTexts['claim']): string {
  switch (state) {
    case 'claimable':
      return payout?.status === 'failed' ? claim.again : claim.claimable;
    case 'pending':
      return claim.pending;
    case 'completed':
      return claim.completed;
    case 'failed':
    case 'voided':
      return `${claim.failed} ${claim.askForNew}`;
    case 'expired': {
      const isLate = refund.expiresAt !== null && refund.expiresAt <= now;
      return `${isLate ? claim.expired : claim.ended} ${claim.askForNew}`;
    }
    case 'cancelled':
      return `${claim.cancelled} ${claim.askForNew}`;
    default:
      return assertNever(state);
  }
}

/** Customers know a token by its currency; the network is shown beside it. */
const symbolOf = ({ asset }: StoredRefund): string => asset.split('_')[0] ?? asset;

const amountText = (refund: StoredRefund, amount: Units, language: Language): string =>
  fromLeft(language, `${formatUnits(amount, assets[refund.asset].decimals)} ${symbolOf(refund)}`);

export const networkOf = ({ asset }: StoredRefund): string => {
  const { chain } = assets[asset];
  return chain.charAt(0).toUpperCase() + chain.slice(1);
};

function amounts(
  { refund, payout, networkFee }: ShownClaim,
  state: State,
  { texts: { claim, label }, language }: PageFor,
): Html {
  const isOpen = state === 'claimable';
  const isPaid = state === 'pending' || state === 'completed';
  const { asset, depositId, expiresAt } = refund;
  const takesFee = depositId !== null && isOpen && networkFee !== null;
  const sent = depositId !== null && isPaid && payout !== undefined ? payout.amount : undefined;
  // The own coin of a network has its name.
  const isNative = assets[asset].name === networkOf(refund);
  return html`${isNative ? undefined : fact(label.currency, assets[asset].name)}${fact(label.network, networkOf(refund))}${
    takesFee ? fact(claim.networkFee, amountText(refund, networkFee, language)) : undefined
  }${fact(claim.sent, sent && amountText(refund, sent, language))}${
    isOpen ? fact(claim.validUntil, expiresAt && timeText(language, expiresAt)) : undefined
  }`;
}

/** To whom it is paid, and the transaction when there is one. */
function paid({ refund, payout }: ShownClaim, state: State, { texts: { label } }: PageFor): Html | undefined {
  if (payout === undefined || (state !== 'pending' && state !== 'completed')) return undefined;
  const { txHash, address } = payout;
  return html`${copied(label.address, showAddress(assets[refund.asset].chain, address))}${
    txHash === null ? undefined : copied(label.transaction, txHash)
  }`;
}

function explorerLink(
  { explorerUrl }: ShownClaim,
  state: State,
  { texts: { payment } }: PageFor,
): Html | undefined {
  if (explorerUrl === null || (state !== 'pending' && state !== 'completed')) return undefined;
  return html`<p>${linkTo(explorerUrl, payment.explorer, 'explorer')}</p>\n`;
}

function claimForm(
  { refund }: ShownClaim,
  { texts: { claim } }: PageFor,
  reply: ClaimReply | undefined,
): Html {
  const [symbol, network] = [symbolOf(refund), networkOf(refund)];
  const problem =
    reply === undefined ? undefined : html`<p class="warn" role="alert" id="problem">${reply.problem}</p>\n`;
  return html`<form method="post">
${problem}<label for="address">${claim.yourAddress(symbol, network)}</label>
<input id="address" name="address" dir="ltr" value="${reply?.typed ?? ''}" maxlength="${ADDRESS_CHARACTERS_MAX}" required autocomplete="off" autocapitalize="off" spellcheck="false"${reply === undefined ? undefined : html` aria-describedby="problem"`}>
<p class="soft">${claim.check(symbol, network)}</p>
<button class="button" type="submit">${claim.button}</button>
</form>`;
}
