import { expect, it, test } from '@jest/globals';
import { cents } from './money.ts';
import { durationText, languageOf, languages, priceText, timeTextOf } from './page-language.ts';
import { en } from './page-texts/en.ts';
import { textsOf } from './page-texts/texts.ts';

it.each([
  [undefined, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['de-AT,en;q=0.5', 'de'],
  ['en;q=0.2, FR-ca;q=0.9', 'fr'],
  ['nl, sv;q=0.9, it;q=0.1', 'it'],
  ['es;q=0.85, pt;q=0.8', 'es'],
  ['es;q=0.8, pt;q=0.85', 'pt'],
  ['ja, ru', 'ja'],
  ['ru;q=0, ar;q=0.001', 'ar'],
  ['ru;q=0.000', 'en'],
  ['*', 'en'],
  ['zh-Hant-TW', 'zh'],
  ['de;q=2, fr', 'fr'],
  ['dede, <script>', 'en'],
])('a reader who asks for %j gets %s', (asked, language) => {
  expect(languageOf(asked)).toBe(language);
});

it('reads a long header up to a limit', () => {
  expect(languageOf(`${'x,'.repeat(2_000)}de`)).toBe('en');
});

it('writes prices, lengths and times as the language does, with digits that wallets take', () => {
  expect(priceText('en', 'EUR', cents(123_450n))).toBe('1,234.50 euros');
  expect(priceText('de', 'EUR', cents(123_450n))).toBe('1.234,50 Euro');
  expect(priceText('ar', 'USD', cents(2_500n))).toMatch(/^25\.00 /);
  expect(priceText('en', 'JPY', cents(100_000n))).toBe('1,000 Japanese yen');
  expect(durationText('en', 1, 'minute')).toBe('1 minute');
  expect(durationText('fr', 2, 'second')).toMatch(/^2\ssecondes$/);
  const at = new Date('2026-03-01T23:05:30.000Z');
  expect(timeTextOf('en', at)).toBe('Mar 1, 2026, 23:05 UTC');
  expect(timeTextOf('ar', at)).toMatch(/23:05/);
});

/** Every text of a language with its path; a function is called with names for what goes in. */
function textsBelow(part: unknown, path = ''): [string, string][] {
  if (typeof part === 'string') return [[path, part]];
  if (typeof part !== 'function')
    return Object.entries(part as object).flatMap(([name, below]) => textsBelow(below, `${path}.${name}`));
  const isCount = COUNTED.some((counted) => path.endsWith(counted));
  const given = isCount ? [7, 32] : path.endsWith('.both') ? [['«a»', '«b»']] : ['«a»', '«b»'];
  return [[path, String(part(...given))]];
}
const COUNTED = [
  ...['.progress.about', '.redirect.soon', '.payment.confirmations', '.payment.more'],
  ...['.tooOften.text', '.tooManyPayments.text'],
];

test.each(languages.filter((language) => language !== 'en'))(
  'the texts in %s are all there and translated',
  (language) => {
    const [english, texts] = [textsBelow(en), textsBelow(textsOf(language))];
    expect(texts.map(([path]) => path)).toEqual(english.map(([path]) => path));
    texts.forEach(([path, text], i) => {
      const [, original = ''] = english[i] ?? [];
      // What goes into the English text goes into this one.
      for (const part of original.match(/«[ab]»|\b7\b|\b32\b/g) ?? [])
        expect([path, text]).toEqual([path, expect.stringContaining(part)]);
      expect([path, text.trim()]).not.toEqual([path, '']);
      if (original.length > 16 && original.includes(' ')) expect([path, text]).not.toEqual([path, original]);
      // A sentence stays a sentence.
      if (/[.]$/.test(original)) expect([path, text]).toEqual([path, expect.stringMatching(/[.。]$/)]);
    });
  },
);
