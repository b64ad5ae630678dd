import { type Html, type HtmlPage, html, type PageOptions, page } from '@quittance/shared/html';
import { type Language, languageOf } from '@quittance/shared/page-language';
import { linkTo } from '@quittance/shared/page-parts';
import type { PageTexts } from '@quittance/shared/page-texts/en';
import { textsOf } from '@quittance/shared/page-texts/texts';
import { namelessShop, type Shop } from './domain/shop.ts';

/** Whose page it is, and in which language its reader gets it. */
export type PageFor = { shop: Shop; language: Language; texts: PageTexts };

/** @param acceptLanguage what the browser of the reader asks for; the shop may have decided otherwise */
export function pageFor(acceptLanguage: string | undefined, shop: Shop = namelessShop): PageFor {
  const language = shop.language ?? languageOf(acceptLanguage);
  return { shop, language, texts: textsOf(language) };
}

/** A page with the name and the logo of the shop at its top. */
export function shopPage(
  { shop, language, texts }: PageFor,
  title: string,
  body: Html,
  options: Omit<PageOptions, 'texts' | 'language' | 'hasLogo' | 'frameAncestors'> = {},
): HtmlPage {
  return page(title, html`${shopHeader(shop, texts)}${body}`, {
    ...options,
    ...{ texts, language, hasLogo: shop.logo !== null, frameAncestors: shop.frameAncestors },
  });
}

function shopHeader({ name, logo }: Shop, texts: PageTexts): Html | undefined {
  if (name === null && logo === null) return undefined;
  // Where the name stands beside it, a screen reader need not read both.
  const picture =
    logo === null ? undefined : html`<img src="${logo}" alt="${name === null ? texts.logo : ''}">`;
  return html`<header class="shop">${picture}${name === null ? undefined : html`<span dir="auto">${name}</span>`}</header>
`;
}

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
