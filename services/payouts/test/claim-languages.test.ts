import { expect, it, test } from '@jest/globals';
import { directionOf, languages } from '@quittance/shared/page-language';
import { textsOf } from '@quittance/shared/page-texts/texts';
import { refundsSuite } from './refunds-fixture.ts';
import { recipient } from './service-fixture.ts';

/** The page of a claim link, in the language of whoever opens it. */
const at = refundsSuite();
const BYTES_MAX = 30_000;

test.each(languages)('a claim link is read and used in %s', async (language) => {
  const { token } = await at.aLink();
  const open = (typed?: string) => at.page(token, typed, { 'Accept-Language': `${language};q=0.9, xx` });
  const { claim } = textsOf(language);
  const expectPage = (page: { text: string; headers: Headers }, ...parts: string[]) => {
    expect(page.headers.get('content-language')).toBe(language);
    expect(page.headers.get('vary')).toContain('Accept-Language');
    expect(page.text).toContain(`<html lang="${language}" dir="${directionOf(language)}">`);
    for (const part of parts) expect(page.text).toContain(part);
    expect(page.text).toMatch(/0\.05 ETH/);
    expect(page.text).not.toMatch(/undefined|<script|NaN/);
    expect(Buffer.byteLength(page.text)).toBeLessThan(BYTES_MAX);
  };
  expectPage(await open(), claim.claimable, `>${claim.button}</button>`, '<label for="address">');
  const problem = await open('"><script>');
  expect(problem.status).toBe(422);
  // In English the exact words of the API.
  expectPage(
    problem,
    language === 'en' ? 'The selected address is invalid.' : claim.noAddress('Ethereum'),
    'value="&quot;&gt;&lt;script&gt;"',
  );
  expect((await open(recipient)).status).toBe(303);
  expectPage(await open(), claim.pending, claim.state.pending);
});

it('a link that is not there says so in the language of the reader', async () => {
  const page = await at.page('x'.repeat(27), undefined, { 'Accept-Language': 'ja' });
  expect(page.status).toBe(404);
  expect(page.text).toContain(textsOf('ja').notice.unknownClaim.title);
});
