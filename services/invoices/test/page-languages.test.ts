import { describe, expect, it, test } from '@jest/globals';
import { directionOf, languages } from '@quittance/shared/page-language';
import { textsOf } from '@quittance/shared/page-texts/texts';
import { namelessShop, type PageFor, pageFor, type Shop } from '@quittance/shared/shop-page';
import { pageStates } from '../src/domain/page-state.ts';
import { examples, HOSTILE, invoicesByState } from './page-examples.ts';

/** All pages of invoices in all languages, without a database. */

/** As large as a logo may be. */
const logo = `data:image/png;base64,${'A'.repeat(8_168)}`;
const hostileShop: Shop = { ...namelessShop, name: HOSTILE, logo };

const BYTES_MAX = 30_000;
const named = Object.entries(examples);
const shownIn = (language: PageFor['language'], shop: Shop = hostileShop) =>
  named.map(([name, show]) => ({ name, ...show(pageFor(language, shop)) }));

/** What a reader gets of a page: its texts, without elements, style and script. */
const textOf = (page: string): string =>
  page
    .replace(/<(style|script)>[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]*>/g, '\n')
    .replaceAll(/\n+/g, '\n');

/** The elements of a page with their attributes. */
const elementsOf = (page: string, name: string): string[] =>
  page.match(new RegExp(`<${name}\\b[^>]*>`, 'g')) ?? [];

test('every state of an invoice is among the pages', () => {
  expect(Object.keys(invoicesByState)).toEqual([...pageStates]);
});

describe.each(languages)('in %s, every page', (language) => {
  it('names its language and the direction of it', () => {
    for (const { name, html, language: chosen } of shownIn(language)) {
      expect([name, chosen]).toEqual([name, language]);
      expect(html).toContain(`<html lang="${language}" dir="${directionOf(language)}">`);
    }
  });

  it('shows what shops and payers have typed as text', () => {
    for (const { name, html } of shownIn(language)) {
      expect([name, html.match(/<script>alert|<img src=x|onerror='/g)]).toEqual([name, null]);
      expect([name, html.split('</main>').length]).toEqual([name, 2]);
      expect([name, html.includes('&lt;script&gt;alert(&quot;1&quot;)')]).toEqual([name, true]);
    }
  });

  it('is smaller than 30 kB with the largest logo', () => {
    for (const { name, html } of shownIn(language)) {
      const bytes = Buffer.byteLength(html);
      expect([name, bytes < BYTES_MAX ? 'small' : bytes]).toEqual([name, 'small']);
    }
  });

  it('has words for a screen reader wherever it has a picture, a link, a button or a field', () => {
    for (const { name, html } of shownIn(language, { ...hostileShop, name: null })) {
      for (const svg of elementsOf(html, 'svg'))
        expect([name, svg]).toEqual([
          name,
          expect.stringMatching(/aria-hidden="true"|role="img" aria-label="[^"]+"/),
        ]);
      for (const img of elementsOf(html, 'img'))
        expect([name, img]).toEqual([name, expect.stringMatching(/alt="[^"]+"/)]);
      for (const meter of elementsOf(html, 'progress')) expect(meter).toMatch(/aria-label="[^"]+"/);
      for (const [, words = ''] of html.matchAll(
        /<(?:a|button|summary|h1|h2|dt|dd|title|strong)\b[^>]*>([\s\S]*?)<\/(?:a|button|summary|h1|h2|dt|dd|title|strong)>/g,
      ))
        expect([name, textOf(words).trim()]).not.toEqual([name, '']);
      for (const field of elementsOf(html, 'input').filter((input) => !input.includes('type="hidden"')))
        expect(html).toMatch(
          new RegExp(`<label>[^<]+\\s*${field.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')}`),
        );
      expect(elementsOf(html, 'h1')).toHaveLength(1);
    }
  });

  it('has no text of another language, and none that is missing', () => {
    for (const { name, html } of shownIn(language)) {
      const text = textOf(html);
      expect([name, text.match(/\bundefined\b|\bnull\b|\bNaN\b|\[object|\$\{/g)]).toEqual([name, null]);
      if (language === 'en') continue;
      const english = /\b(?:the|please|your|payment|shop|arrived|network)\b/i;
      const left = text
        .replaceAll(/&lt;[\s\S]*?&amp;/g, '')
        .split('\n')
        .filter((line) => english.test(line));
      // "Shop" is a German word too.
      expect([name, left.filter((line) => !(language === 'de' && /Shop/.test(line)))]).toEqual([name, []]);
    }
  });

  it('keeps the exact digits of what a wallet needs', () => {
    const { html } = examples['short']?.(pageFor(language)) ?? { html: '' };
    const { copy, copied } = textsOf(language);
    expect(/<main [^>]*>/.exec(html)?.[0]).toMatch(
      new RegExp(`data-copy="${copy}".*data-copied="${copied}"`),
    );
    expect(html).toContain('<dd class="copy">15</dd>');
    expect(html).toContain('<dd class="copy">0x52908400098527886E0F7030069857D2E4169EE7</dd>');
    expect(html).toContain('uint256=15000000"');
    expect(html).toContain('<dd>Ethereum</dd>');
    expect(html).toContain(`<a class="button" href="ethereum:`);
    expect(html).toMatch(/<time class="left" datetime="2026-03-01T12:28:00.000Z">[^<]*28[^<]*<\/time>/);
  });
});

describe('a state of a payment', () => {
  const english = pageFor('en', { ...namelessShop, name: 'Tea House' });
  const shown = (name: string) => examples[name]?.(english).html ?? '';
  const iconOf = (html: string) => /class="icon".*?d="([^"]+)"/.exec(html)?.[1];

  it('has the way back to the shop, and before anything is decided that leads to its front page', () => {
    for (const [name] of named.filter(([one]) => !one.startsWith('link')))
      expect([name, shown(name)]).toEqual([name, expect.stringContaining('>Back to the shop</a>')]);
    for (const name of ['waiting', 'short', 'over', 'seen', 'confirming', 'choice of the asset']) {
      expect(shown(name)).toContain('href="https://shop.example/" ');
      expect(shown(name)).not.toMatch(/shop\.example\/(?:thanks|late)/);
    }
    expect(shown('overpaid')).toContain('href="https://shop.example/thanks?a=1&amp;b=&quot;&lt;2&gt;&quot;"');
    for (const name of ['expired', 'late', 'underpaid', 'cancelled', 'reversed'])
      expect(shown(name)).toContain('href="https://shop.example/late"');
  });

  it('leads back by itself after a while where it asks nothing of the customer, and says so with a way to stay', () => {
    const url = 'https://shop.example/thanks?a=1&amp;b=&quot;&lt;2&gt;&quot;';
    expect(shown('paid')).toContain(`<meta http-equiv="refresh" content="10;url=${url}">`);
    expect(shown('paid')).toMatch(/in 10 seconds\. <a [^>]*href="\?stay"/);
    expect(shown('expired')).toContain(
      '<meta http-equiv="refresh" content="10;url=https://shop.example/late">',
    );
    for (const name of [
      'overpaid',
      'late',
      'underpaid',
      'cancelled',
      'reversed',
      'paid with more on the way',
    ])
      expect([name, shown(name)]).toEqual([
        name,
        expect.not.stringMatching(/;url=| data-redirect=| data-seconds=/),
      ]);
  });

  it('is followed while anything may still arrive, and loaded again where no script runs', () => {
    const isFollowed = (name: string) => / data-events="[^"]+" data-refresh="\d+"/.test(shown(name));
    const isReloaded = (name: string) => /http-equiv="refresh"/.test(shown(name));
    for (const state of pageStates) {
      const isDone = state === 'paid' || state === 'overpaid';
      expect([state, isFollowed(state)]).toEqual([state, !isDone]);
      expect([state, isReloaded(state)]).toEqual([state, state !== 'overpaid']);
    }
    expect(isFollowed('paid with more on the way')).toBe(true);
    expect(isReloaded('paid with more on the way')).toBe(true);
  });

  it('says that money is confirmed only when it is', () => {
    const text = shown('paid with more on the way');
    expect(text).toContain('25 USDC have arrived and are confirmed');
    expect(text).not.toMatch(/35 USDC|more than was due/);
    expect(text).toMatch(/10 USDC<\/span><span class="soft">11 of 32 confirmations/);
  });

  it('goes on asking for the payment after its end while the chain is read late, without a time left', () => {
    const extended = 'The time to pay is extended';
    for (const [name, ask] of [
      ['over', 'Send 25 USDC'],
      ['short and over', 'Send 15 USDC more'],
    ]) {
      const text = shown(`${name} while the chain is read late`);
      expect(text).toContain(ask);
      expect(text).toContain(extended);
      expect(text).toContain('data-wallet=');
      expect(text).not.toMatch(/do not pay|class="left"/i);
    }
    for (const name of [
      ...['over before the chain was read late', 'over for longer than it can be extended'],
      'cancelled while the chain is read late',
    ]) {
      expect(shown(name)).toMatch(/do not pay/);
      expect(shown(name)).not.toContain(extended);
    }
  });

  it('has a picture of its own', () => {
    expect(pageStates.map((state) => iconOf(shown(state)))).not.toContain(undefined);
    const looks = pageStates.map(
      (state) => `${iconOf(shown(state))} ${/<h1>.*<\/h1>/.exec(shown(state))?.[0]}`,
    );
    expect(new Set(looks).size).toBe(pageStates.length);
    const headline = textsOf('en').headline.overpaid;
    expect(shown('overpaid')).toMatch(new RegExp(`${headline}[\\s\\S]*5 USDC more than was due`));
  });

  it('shows how far the confirmations are, and how long the rest usually takes', () => {
    // 11 of 32 blocks of 12 seconds: 252 seconds are left.
    expect(shown('confirming')).toContain('<progress value="11" max="32" aria-label="Confirmations">');
    expect(shown('confirming')).toContain('11 of 32 confirmations. Confirmed in about 5 minutes.');
  });

  it('says that payments are seen late while the chain is read late, and that the time is extended', () => {
    const late = 'Payments on Ethereum are seen late at the moment';
    const extended = 'The time to pay is extended';
    expect(shown('waiting')).not.toContain(late);
    expect(shown('waiting while the chain is read late')).toMatch(new RegExp(`${late}[\\s\\S]*${extended}`));
    expect(shown('confirming while the chain is read late')).toContain(late);
    expect(shown('confirming while the chain is read late')).not.toContain(extended);
  });

  it('is a receipt when it is paid', () => {
    const paid = shown('paid');
    for (const part of [
      '<span dir="auto">Tea House</span>',
      '<dd>25.00 US dollars, 25 USDC</dd>',
      '<dd>25 USDC</dd>',
      'Mar 1, 2026, 11:59 UTC</time>',
      'inv_018e0f2a4b5c6d7e8f9a0b1c2d3e4f5a6b7c',
      `href="https://etherscan.io/tx/0x${'5e'.repeat(32)}" rel="noreferrer"`,
    ])
      expect(paid).toContain(part);
    expect(paid).not.toContain('class="copy"');
  });
});
