import { describe, expect, it } from '@jest/globals';
import { expireUnchosen } from '../src/operations/expire-unchosen.ts';
import { MINUTE, openFixture } from './fixture.ts';
import { linksOf } from './link-fixture.ts';

const { fixture } = await openFixture();
const { choose, page, unchosen } = linksOf(fixture);

describe('an invoice whose payer chooses the asset', () => {
  it('can be chosen until a minute before its end, and says how long', async () => {
    const { shop, id } = await unchosen({ expires_in: 30 });
    const shown = await page(`/pay/${id}`);
    expect(shown.body).toContain('<dt>Time left</dt><dd><time class="left" datetime="');
    expect(shown.body).toMatch(/<dt>Time left to choose<\/dt><dd><time [^>]*>29 minutes<\/time>/);
    fixture.pass(29 * MINUTE - 1);
    expect((await choose(id)).status).toBe(303);
    expect(await shop.read(id)).toMatchObject({ asset: { symbol: 'ETH' }, status: 'pending' });
  });

  it('gives out no address in its last minute: the choice is answered 409, and the page says so', async () => {
    const { shop, id, kinds } = await unchosen({ expires_in: 30, timeout_url: 'https://shop.example/late' });
    fixture.pass(29 * MINUTE);
    const said = expect.stringContaining(
      'This payment ends in less than a minute, which is too short to pay it.',
    );
    expect(await choose(id)).toMatchObject({ status: 409, body: said });
    const shown = await page(`/pay/${id}`);
    expect(shown).toMatchObject({ status: 200, body: said });
    expect(shown.body).toContain('Please ask the shop for a new payment.');
    expect(shown.body).toContain('href="https://shop.example/late"');
    expect(shown.body).not.toContain('<form');
    expect(await shop.read(id)).toMatchObject({ asset: null, address: null, status: 'pending' });
    expect(await kinds()).toEqual(['invoice.created']);

    fixture.pass(MINUTE);
    await expireUnchosen(fixture.ports);
    expect((await page(`/pay/${id}`)).body).toContain('The time to pay is over.');
    expect((await choose(id)).status).toBe(303);
  });
});
