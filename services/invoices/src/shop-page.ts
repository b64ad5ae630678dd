import { type Html, html } from '@quittance/shared/html';
import { linkTo } from '@quittance/shared/page-parts';
import type { PageTexts } from '@quittance/shared/page-texts/en';

/** The URLs that the shop gave. */
type BackUrls = { succeedUrl: string | null; timeoutUrl: string | null };

/** The link back to the shop, where it gave the URL for this state. */
export const backTo = (texts: PageTexts, url: string | null): Html | undefined =>
  url === null ? undefined : linkTo(url, texts.backToShop, 'button');

/**
 * Back to the shop while nothing is decided. It leads to the front page of the shop: what the shop shows at the URLs of success
 * and of failure would say what is not true yet.
 */
export function backToFront(texts: PageTexts, { succeedUrl, timeoutUrl }: BackUrls): Html | undefined {
  const url = timeoutUrl ?? succeedUrl;
  if (url === null) return undefined;
  return html`<p class="back">${linkTo(`${new URL(url).origin}/`, texts.backToShop, 'explorer')}</p>`;
}
