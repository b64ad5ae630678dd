import { type Html, type HtmlPage, html, type PageOptions, page } from './html.ts';
import { type Language, languageOf } from './page-language.ts';
import type { PageTexts } from './page-texts/en.ts';
import { textsOf } from './page-texts/texts.ts';

/** What an account shows on the pages of its customers. */
export type Shop = {
  name: string | null;
  /** A picture as a data URI. */
  logo: string | null;
  /** Null: as each customer's browser asks. */
  language: Language | null;
  /** Origins that may show the pages in a frame. */
  frameAncestors: readonly string[];
};

/** An account that has set nothing: nothing is invented for it. */
export const namelessShop: Shop = { name: null, logo: null, language: null, frameAncestors: [] };

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
