import { showAddress } from '@quittance/chains/registry';
import { assets } from '@quittance/shared/assets';
import { formPage, type Html, type HtmlPage, html, page, timeText } from '@quittance/shared/html';
import { formatUnits, type Units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';
import { ADDRESS_CHARACTERS_MAX } from './payout-order.ts';
import { shownState } from './refund-views.ts';
import type { Payout } from './store/payouts.ts';
import type { StoredRefund } from './store/refund-rows.ts';

/** How often a page reloads while the payout is pending. */
const REFRESH_SECONDS = 15;

const messagePage = (status: number, title: string, text: string): HtmlPage =>
  page(status, title, html`<h1>${title}</h1>\n<p class="soft">${text}</p>`);

export const unknownClaimPage = messagePage(
  404,
  'There is no such refund',
  'The address of this page may have been cut off. Please open the link that you were sent once more.',
);

export const failedClaimPage = messagePage(
  500,
  'Something went wrong',
  'Please open this page again in a moment: it shows whether your refund is being paid. A refund is never paid twice.',
);

export const unavailableClaimPage = messagePage(
  503,
  'Please try again',
  'Your refund cannot be paid right now. Nothing was paid: open this page again in a moment.',
);

/** What is shown: a refund, and the payout that pays it or has failed to. */
export type ShownClaim = {
  refund: StoredRefund;
  payout: Payout | undefined;
  /** What the network takes of a deposit that is paid back; null while it is not known. */
  networkFee: Units | null;
  now: Date;
};

/** What came of an address that was sent. */
export type ClaimReply = { typed: string; problem: string };

/** The page of a claim link. It shows nothing that concerns only the merchant. */
export function claimPage(shown: ShownClaim, status = 200, reply?: ClaimReply): HtmlPage {
  const state = shownState(shown.refund, shown.now);
  const isOpen = state === 'claimable';
  const body = html`${heading(shown, state)}
<dl>
${amounts(shown)}
${paid(shown)}
</dl>
${isOpen ? claimForm(shown, reply) : undefined}`;
  const seconds = state === 'pending' ? REFRESH_SECONDS : undefined;
  return (isOpen ? formPage : page)(status, titles[state], body, seconds);
}

type State = ReturnType<typeof shownState>;

const titles = {
  claimable: 'Your refund',
  pending: 'Your refund is being paid',
  completed: 'Your refund is paid',
  failed: 'The refund has failed',
  expired: 'The link is not valid any more',
  cancelled: 'The link was cancelled',
  voided: 'The link is not valid',
} as const satisfies Record<State, string>;

function heading({ refund, payout, now }: ShownClaim, state: State): Html {
  const top = (tone: string, title: string, text: string) =>
    html`<p class="state ${tone}" role="status">${titles[state]}</p>
<h1>${title}</h1>
<p class="soft">${text}</p>`;
  const amount = amountText(refund, refund.amount);
  const askShop = 'Please ask the shop for a new one.';
  switch (state) {
    case 'claimable':
      return payout?.status === 'failed'
        ? top(
            'warn',
            amount,
            'The payment to the address that you gave has failed. Please give another address.',
          )
        : top('', amount, 'You get this back. Please say to which address it shall be sent.');
    case 'pending':
      return top(
        '',
        amount,
        'It is on its way. You may close this page, and open it again to see its state.',
      );
    case 'completed':
      return top('good', amount, 'It was sent to the address that you gave and is confirmed by the network.');
    case 'failed':
    case 'voided':
      return top('warn', amount, `It could not be paid. ${askShop}`);
    case 'expired': {
      const isLate = refund.expiresAt !== null && refund.expiresAt <= now;
      const why = isLate ? 'The time to claim it is over.' : 'It cannot be claimed any more.';
      return top('warn', amount, `${why} ${askShop}`);
    }
    case 'cancelled':
      return top('warn', amount, `The shop has cancelled this link. ${askShop}`);
    default:
      return assertNever(state);
  }
}

/** Customers know a token by its currency; the network is shown beside it. */
const amountText = ({ asset }: StoredRefund, amount: Units): string =>
  `${formatUnits(amount, assets[asset].decimals)} ${asset.split('_')[0] ?? asset}`;

const networkOf = ({ asset }: StoredRefund): string => {
  const { chain } = assets[asset];
  return chain.charAt(0).toUpperCase() + chain.slice(1);
};

function amounts({ refund, payout, networkFee, now }: ShownClaim): Html {
  const state = shownState(refund, now);
  const isOpen = state === 'claimable';
  const isPaid = state === 'pending' || state === 'completed';
  const { asset, depositId, expiresAt } = refund;
  const less =
    depositId !== null && isOpen && networkFee !== null
      ? html`<dt>Network fee, which is taken from it</dt><dd>${amountText(refund, networkFee)}</dd>\n`
      : undefined;
  const sent =
    depositId !== null && isPaid && payout !== undefined
      ? html`<dt>Sent after the network fee</dt><dd>${amountText(refund, payout.amount)}</dd>\n`
      : undefined;
  const until =
    isOpen && expiresAt !== null ? html`<dt>Valid until</dt><dd>${timeText(expiresAt)}</dd>` : undefined;
  // The own coin of a network has its name.
  const isNative = assets[asset].name === networkOf(refund);
  return html`${isNative ? undefined : html`<dt>Currency</dt><dd>${assets[asset].name}</dd>\n`}<dt>Network</dt><dd>${networkOf(refund)}</dd>
${less}${sent}${until}`;
}

/** To whom it is paid, and the transaction when there is one. */
function paid({ refund, payout, now }: ShownClaim): Html | undefined {
  const state = shownState(refund, now);
  if (payout === undefined || (state !== 'pending' && state !== 'completed')) return undefined;
  const { txHash, address } = payout;
  return html`<dt>Address</dt><dd class="copy">${showAddress(assets[refund.asset].chain, address)}</dd>
${txHash === null ? undefined : html`<dt>Transaction</dt><dd class="copy">${txHash}</dd>`}`;
}

function claimForm({ refund }: ShownClaim, reply: ClaimReply | undefined): Html {
  const network = networkOf(refund);
  const currency = refund.asset.split('_')[0] ?? refund.asset;
  const problem =
    reply === undefined ? undefined : html`<p class="warn" role="alert" id="problem">${reply.problem}</p>\n`;
  return html`<form method="post">
${problem}<label for="address">Your ${currency} address on the network ${network}</label>
<input id="address" name="address" value="${reply?.typed ?? ''}" maxlength="${ADDRESS_CHARACTERS_MAX}" required autocomplete="off" autocapitalize="off" spellcheck="false"${reply === undefined ? undefined : html` aria-describedby="problem"`}>
<p class="soft">Check that it is an address of yours for ${currency} on ${network}. What is sent to a wrong address or on another network is lost.</p>
<button class="button" type="submit">Get the refund</button>
</form>`;
}
