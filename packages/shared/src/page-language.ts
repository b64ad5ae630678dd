import type { Currency } from './currencies.ts';
import type { Cents } from './money.ts';
import { formatFiat } from './money.ts';

/** The languages of the pages for customers. The first is spoken to whoever asks for none of them. */
export const languages = ['en', 'de', 'es', 'fr', 'it', 'pt', 'ru', 'zh', 'ja', 'ar'] as const;
export type Language = (typeof languages)[number];

/** The direction in which a language is written. */
export const directionOf = (language: Language): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');

/** A text that is written from the left, such as an amount with its currency, as it stands in a text of the language. */
export const fromLeft = (language: Language, text: string): string =>
  directionOf(language) === 'rtl' ? `\u2066${text}\u2069` : text;

/** A longer header is read up to here. */
const HEADER_CHARACTERS_MAX = 1_000;

/**
 * The language that a reader prefers, by the header `Accept-Language` with its quality values (RFC 9110, 12.5.4). `de-CH` counts
 * as `de`. Of equal quality the first counts.
 */
export function languageOf(acceptLanguage: string | undefined): Language {
  const wanted = (acceptLanguage ?? '')
    .slice(0, HEADER_CHARACTERS_MAX)
    .split(',')
    .flatMap((part) => {
      const [, tag = '', quality = '1'] =
        /^\s*([a-z]+|\*)(?:-[a-z0-9-]+)?\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?$/i.exec(part) ?? [];
      const language = languages.find((one) => one === tag.toLowerCase());
      return language === undefined ? [] : [{ language, quality }];
    })
    .filter(({ quality }) => !/^0(?:\.0*)?$/.test(quality));
  // Texts of one form compare as their numbers do: "0.8" < "0.85" < "1".
  wanted.sort((a, b) => (a.quality === b.quality ? 0 : a.quality < b.quality ? 1 : -1));
  return wanted[0]?.language ?? 'en';
}

/** Digits are those that wallets take, in Arabic too. */
const localeOf = (language: Language): string => (language === 'ar' ? 'ar-u-nu-latn' : language);

/** A price with the name of its currency: "12.50 euros". Formatted from its text, so every digit is exact. */
export const priceText = (language: Language, currency: Currency, price: Cents): string =>
  namedFormat(language, currency).format(formatFiat(price) as Intl.StringNumericLiteral);

/** The name of a currency for amounts of it: "euros". */
export const currencyName = (language: Language, currency: Currency): string =>
  namedFormat(language, currency)
    .formatToParts(2)
    .flatMap(({ type, value }) => (type === 'currency' ? [value] : []))
    .join('');

const namedFormat = (language: Language, currency: Currency) =>
  new Intl.NumberFormat(localeOf(language), { style: 'currency', currency, currencyDisplay: 'name' });

/** A length of time: "5 minutes". */
export const durationText = (language: Language, count: number, unit: 'minute' | 'second'): string =>
  new Intl.NumberFormat(localeOf(language), { style: 'unit', unit, unitDisplay: 'long' }).format(count);

/** A time to the minute: "Mar 1, 2026, 12:00 UTC". */
export const timeTextOf = (language: Language, at: Date): string =>
  new Intl.DateTimeFormat(localeOf(language), {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
    timeZoneName: 'short',
  }).format(at);

/** The form of a noun after a number. */
export function plural<F extends { other: string }>(language: Language, count: number, forms: F): string {
  const rule = new Intl.PluralRules(language).select(count);
  return (forms as { [rule in Intl.LDMLPluralRule]?: string })[rule] ?? forms.other;
}
