import { describe, expect, it } from '@jest/globals';
import { api } from '@quittance/testkit/api';
import { openFixture } from './fixture.ts';
import { invoiceOf, linksOf } from './link-fixture.ts';

const { fixture } = await openFixture();
const { open, aLink } = linksOf(fixture);
const SETTINGS = '/api/invoice-settings';

const asDataUri = (format: string, bytes: number[], length = 60) =>
  `data:image/${format};base64,${Buffer.from([...bytes, ...Array(length).fill(0)]).toString('base64')}`;
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const JPEG = [0xff, 0xd8, 0xff];
const WEBP = [0x52, 0x49, 0x46, 0x46, 1, 0, 0, 0, 0x57, 0x45, 0x42, 0x50];

const page = (id: string, language?: string, query = '') =>
  api(fixture.service.port, 'GET', `/pay/${id}${query}`, {
    ...{ now: fixture.clock.now(), headers: language === undefined ? {} : { 'Accept-Language': language } },
  });

describe('the shop of an account', () => {
  it('is on the pages of its customers as it was last set, and not on those of others', async () => {
    const [shop, other] = [fixture.merchant(), fixture.merchant()];
    const { id } = await shop.invoice();
    const { id: others } = await other.invoice();
    const logo = asDataUri('png', PNG);
    expect(await shop.patch(SETTINGS, { shop_name: ' <i>Tea</i> ', shop_logo: logo })).toMatchObject({
      status: 200,
      body: { data: { shop_name: '<i>Tea</i>', shop_logo: logo, currency: 'USD' } },
    });
    const { body } = await page(id);
    expect(body).toContain('<span dir="auto">&lt;i&gt;Tea&lt;/i&gt;</span>');
    expect(body).toContain(`<img src="${logo}" alt="">`);
    expect((await page(others)).body).not.toMatch(/<header|<img/);

    await shop.patch(SETTINGS, { shop_name: null });
    const nameless = (await page(id)).body;
    expect(nameless).toContain(`<img src="${logo}" alt="Logo of the shop">`);
    await shop.patch(SETTINGS, { shop_logo: null, tolerance: 1 });
    expect((await page(id)).body).not.toContain('<header');
    expect((await shop.get(SETTINGS)).body).toMatchObject({ shop_logo: null, tolerance: '1' });
  });

  it('has the language that the browser asks for, unless the account has set one', async () => {
    const shop = fixture.merchant();
    const { id } = await shop.invoice();
    const german = await page(id, 'xx, fr;q=0.3, de-CH;q=0.7');
    expect(german.headers).toMatchObject({ 'content-language': 'de' });
    expect(String(german.headers['vary'])).toContain('Accept-Language');
    expect(german.body).toContain('<html lang="de" dir="ltr">');
    expect(german.body).toContain('Senden Sie 0.01 ETH auf Ethereum');
    await shop.patch(SETTINGS, { language: 'ar' });
    const arabic = await page(id, 'de');
    expect(arabic.headers).toMatchObject({ 'content-language': 'ar' });
    expect(arabic.body).toContain('<html lang="ar" dir="rtl">');
    await shop.patch(SETTINGS, { language: null });
    expect((await page(id, 'fr')).headers).toMatchObject({ 'content-language': 'fr' });
    expect((await page('inv_none', 'ja')).headers).toMatchObject({ 'content-language': 'ja' });
  });

  it.each([
    ['PNG', asDataUri('png', PNG)],
    ['JPEG', asDataUri('jpeg', JPEG)],
    ['WebP', asDataUri('webp', WEBP)],
    ['PNG of the greatest size', asDataUri('png', PNG, 6_118)],
  ])('takes a logo that is a %s', async (_, logo) => {
    expect(await fixture.merchant().patch(SETTINGS, { shop_logo: logo })).toMatchObject({ status: 200 });
  });

  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>').toString('base64');
  const INVALID = 'The selected shop logo is invalid.';
  it.each([
    ['an SVG', `data:image/svg+xml;base64,${svg}`, INVALID],
    ['an SVG that says it is a PNG', `data:image/png;base64,${svg}`, INVALID],
    ['a JPEG that says it is a PNG', asDataUri('png', JPEG), INVALID],
    ['a URL', 'https://shop.example/logo.png', INVALID],
    ['5,000 emoji', '🍵'.repeat(5_000), INVALID],
    ['more than base64', `${asDataUri('png', PNG)}" onerror="alert(1)`, INVALID],
    ['bits that its bytes do not have', asDataUri('png', PNG, 59).replace(/.=$/, '9='), INVALID],
    [
      'a picture that is too large',
      asDataUri('png', PNG, 6_200),
      'The shop logo must not be greater than 8192 characters.',
    ],
  ])('refuses a logo that is %s', async (_, logo, message) => {
    const shop = fixture.merchant();
    const answer = await shop.patch(SETTINGS, { shop_logo: logo });
    expect(answer).toMatchObject({ status: 422, body: { errors: { shop_logo: [message] } } });
    expect((await shop.get(SETTINGS)).body.shop_logo).toBeNull();
  });
});

describe('the hosts that customers may be sent to', () => {
  it('are those of the account for new invoices and links, and any while it names none', async () => {
    const shop = fixture.merchant();
    const to = (host: string) => ({
      succeed_url: `https://${host}/thanks`,
      timeout_url: `https://${host}/late`,
    });
    await shop.invoice(to('evil.example'));
    expect(await shop.patch(SETTINGS, { redirect_hosts: ['Shop.Example', 'shop.example'] })).toMatchObject({
      body: { data: { redirect_hosts: ['shop.example'] } },
    });
    await shop.invoice(to('shop.example'));
    const errors = {
      succeed_url: ['The selected succeed url is invalid.'],
      timeout_url: ['The selected timeout url is invalid.'],
    };
    for (const host of [
      'evil.example',
      'shop.example.evil.example',
      'shop.example@evil.example',
      'a.shop.example',
    ]) {
      const answer = await shop.post('/api/invoices', { asset: 'ETH', amount: 25, ...to(host) });
      expect([host, answer.status, answer.body.errors]).toEqual([host, 422, errors]);
      const link = await shop.post('/api/payment-links', { description: 'Tea', amount: 25, ...to(host) });
      expect([host, link.status, link.body.errors]).toEqual([host, 422, errors]);
    }
    await shop.patch(SETTINGS, { redirect_hosts: [] });
    await shop.invoice(to('evil.example'));
  });

  it('also hold for the payments of an older link: they go on, and lead nowhere else', async () => {
    const { shop, link } = await aLink({
      ...{ amount: 25, asset: 'ETH' },
      ...{ succeed_url: 'https://evil.example/thanks', timeout_url: 'https://shop.example/late' },
    });
    await shop.patch(SETTINGS, { redirect_hosts: ['shop.example'] });
    const { body } = await page(invoiceOf(await open(link.id)));
    expect(body).not.toContain('evil.example');
    expect(body).toContain('href="https://shop.example/"');
  });
});
