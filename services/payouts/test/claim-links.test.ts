import { describe, expect, it } from '@jest/globals';
import type { PayoutId } from '@quittance/shared/ids';
import { Secret } from '@quittance/shared/secret';
import { LINK_VERSION_MAX } from '../src/domain/refund.ts';
import { CANCELLED } from '../src/domain/states.ts';
import { endRefunds, payClaim } from '../src/operations/claim-refund.ts';
import { movePayout } from '../src/store/payouts.ts';
import type { StoredRefund } from '../src/store/refund-rows.ts';
import { findRefund } from '../src/store/refunds.ts';
import { FINNEY, refundsSuite } from './refunds-fixture.ts';
import { recipient as address, storeReverted } from './service-fixture.ts';

/** Claim links, opened and raced on two replicas. */
const at = refundsSuite();
const { shown, cancel, aLink, page, payoutsOf, fail, expireLink, told } = at;

describe('a claim link', () => {
  it('shows what is paid back, and takes an address once in two tabs on two replicas', async () => {
    const { refundId, invoice, token } = await aLink({
      amount: 'all',
      external_id: 'rma',
      expires_in_days: 1,
    });
    const open = await page(token);
    expect(open.status).toBe(200);
    for (const text of ['0.05 ETH', 'Ethereum', 'Valid until', '<form method="post">'])
      expect(open.text).toContain(text);
    for (const text of [invoice, 'rma', '<script']) expect(open.text).not.toContain(text);
    expect(open.headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action 'self'/);

    const others = '0x00000000000000000000000000000000000ABcDe';
    const sent = await Promise.all(
      Array.from({ length: 10 }, (_, i) => page(token, i % 2 === 0 ? address : others.toLowerCase())),
    );
    for (const { status, headers } of sent) {
      expect([status, headers.get('location')]).toEqual([303, token]);
    }
    const [payout, ...more] = await payoutsOf(refundId);
    expect([payout?.status, BigInt(payout?.amount ?? 0), more]).toEqual(['reserved', 50n * FINNEY, []]);
    const after = await page(token);
    expect(after.text.toLowerCase()).toContain(payout?.address ?? 'none');
    expect(after.text).toContain('It is on its way');
    expect(after.text).not.toContain('<form');
    expect(await shown(refundId)).toMatchObject({ status: 'pending', payout_id: expect.any(Number) });
    await at.fixture.db.transaction(async (trx) => {
      await movePayout(trx, payout?.id as PayoutId, ['reserved'], 'planned');
      await movePayout(trx, payout?.id as PayoutId, ['planned'], 'signed');
      await movePayout(trx, payout?.id as PayoutId, ['signed'], 'mined', { txHash: '0xfeed' });
    });
    const paid = (await page(token)).text;
    expect(paid).toMatch(/is paid[\s\S]*0xfeed/);
    expect(paid).toContain('href="https://scan.example/tx/0xfeed"');
    expect(after.text).not.toContain('scan.example');
    expect((await page(`${token}/`, address)).headers.get('location')).toBe(`../${token}`);
    expect(await payoutsOf(refundId)).toHaveLength(1);
    expect(await told(refundId)).toEqual(['claimable', 'pending', 'completed']);
  });

  it('has the name, the logo and the language of the shop, and is in no frame', async () => {
    const { token } = await aLink();
    const logo = 'data:image/png;base64,iVBORw0KGgo=';
    const name = '"><script>Tea</script>';
    at.invoices.shops.set(at.fixture.shop.account, { name, logo, language: 'de' });
    const { text, headers } = await page(token, undefined, { 'Accept-Language': 'ja' });
    expect(text).toContain('<header class="shop">');
    expect(text).toContain(`<img src="${logo}" alt="">`);
    expect(text).toContain('&quot;&gt;&lt;script&gt;Tea&lt;/script&gt;');
    expect(text).not.toContain('<script');
    expect(headers.get('content-language')).toBe('de');
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain('img-src data:');
    // Without an answer the claim is paid all the same, and no other picture is shown than one that is a picture.
    for (const other of [null, 'data:image/svg+xml;base64,AAAA', 'https://elsewhere.example/a.png']) {
      if (other === null) at.invoices.isSilent = true;
      else at.invoices.shops.set(at.fixture.shop.account, { name: 'Tea', logo: other, language: null });
      const without = await page(token);
      at.invoices.isSilent = false;
      expect([without.status, /class="shop"|<img/.test(without.text)]).toEqual([200, false]);
      expect(without.text).toContain('<form method="post">');
    }
  });

  it('says which rule an address breaks, and shows what was typed as text', async () => {
    const { refundId, token } = await aLink();
    const typed = '"><script>alert(1)</script>';
    const { status, text } = await page(token, typed);
    expect(status).toBe(422);
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(text).not.toContain('<script');
    expect((await page(token, 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq')).text).toContain(
      'This is an address of Bitcoin',
    );
    expect((await page(token, '')).text).toContain('The address field is required.');
    expect(await payoutsOf(refundId)).toEqual([]);
  });

  it('stays claimable when the balance is too low, or when the hold is void, and pays later once', async () => {
    const { refundId, token } = await aLink();
    at.fixture.ledger.reply = () => ({ outcome: 'refused' });
    const poor = await page(token, address);
    expect(poor.status).toBe(409);
    expect(poor.text).toContain('the shop has to act');
    at.fixture.ledger.reply = () => ({ outcome: 'voided' });
    const silent = await page(token, address);
    expect(silent.status).toBe(503);
    expect(silent.text).toMatch(/Nothing was paid: please try again[\s\S]*value="0x5290/);
    expect(await shown(refundId)).toMatchObject({ status: 'claimable', payout_id: null });
    at.fixture.ledger.reply = () => ({ outcome: 'placed' });
    expect((await page(token, address)).status).toBe(303);
    expect((await payoutsOf(refundId)).map(({ status }) => status)).toEqual([
      'refused',
      'voided',
      'reserved',
    ]);
  });

  it('stores nothing of a claim that the balance does not cover', async () => {
    const { refundId, token } = await aLink();
    // A half of a finney is the network fee.
    at.fixture.ledger.available = (50n * FINNEY + FINNEY / 2n - 1n).toString();
    for (let tries = 0; tries < 3; tries++) {
      const poor = await page(token, address);
      expect([poor.status, poor.text]).toEqual([409, expect.stringContaining('the shop has to act')]);
    }
    expect([await payoutsOf(refundId), await told(refundId)]).toEqual([[], ['claimable']]);
    at.fixture.ledger.available = (50n * FINNEY + FINNEY / 2n).toString();
    expect((await page(token, address)).status).toBe(303);
    expect(await payoutsOf(refundId)).toHaveLength(1);
  });

  it('is pending without a payout until the ledger has placed the hold', async () => {
    const { refundId, token } = await aLink();
    const during: unknown[] = [];
    const before = async () => during.push(await shown(refundId));
    at.fixture.ledger.reply = () => ({ outcome: 'placed', before });
    await page(token, address);
    expect(during).toMatchObject([{ status: 'pending', payout_id: null }]);
    expect(await shown(refundId)).toMatchObject({ status: 'pending', payout_id: expect.any(Number) });
  });

  it('ends when its payouts have come to nothing too often', async () => {
    const { refundId, token } = await aLink();
    await at.fixture.db.rows('update refunds set version = $2 where id = $1', [
      refundId,
      LINK_VERSION_MAX - 2,
    ]);
    at.fixture.ledger.reply = () => ({ outcome: 'refused' });
    for (const status of ['claimable', 'expired']) {
      expect((await page(token, address)).status).toBe(409);
      expect(await shown(refundId)).toMatchObject({ status });
    }
    expect((await page(token)).text).toContain('It cannot be claimed any more');
    expect((await page(token, address)).status).toBe(303);
    expect(await payoutsOf(refundId)).toHaveLength(2);
  });

  it('pays nothing while the network has taken the payment back, and pays when it is final again', async () => {
    const { refundId, invoice, token } = await aLink({ amount: 100 });
    const described = at.invoices.invoices.get(invoice);
    if (described === undefined) throw new Error('the invoice is there');
    for (const paid_amount of ['0', (40n * FINNEY - 1n).toString()]) {
      at.invoices.invoices.set(invoice, { ...described, paid_amount });
      const reversed = await page(token, address);
      expect(reversed.status).toBe(409);
      expect(reversed.text).toMatch(/<form[\s\S]*The payment is not final on the network any more/);
    }
    at.invoices.isSilent = true;
    expect((await page(token, address)).status).toBe(503);
    at.invoices.isSilent = false;
    expect([await payoutsOf(refundId), at.fixture.ledger.asked]).toEqual([[], []]);
    expect(await shown(refundId)).toMatchObject({ status: 'claimable', payout_id: null });
    at.invoices.invoices.set(invoice, { ...described, paid_amount: (40n * FINNEY).toString() });
    expect((await page(token, address)).status).toBe(303);
    expect(await payoutsOf(refundId)).toMatchObject([{ status: 'reserved' }]);
  });

  it('is claimable again when its payout has failed, and fails with its time', async () => {
    const { refundId, token } = await aLink();
    await page(token, address);
    const [first] = await payoutsOf(refundId);
    await fail(first?.id as PayoutId);
    expect((await page(token)).text).toContain('The payment to the address that you gave has failed');
    expect((await page(token, address)).status).toBe(303);
    const [, second] = await payoutsOf(refundId);
    await expireLink(refundId);
    await fail(second?.id as PayoutId);
    expect(await shown(refundId)).toMatchObject({ status: 'expired' });
    expect(await told(refundId)).toEqual(['claimable', 'pending', 'claimable', 'pending', 'expired']);
  });

  it('fails for good when its payout was mined and reverted, because the network fee is spent', async () => {
    const { refundId, token } = await aLink();
    await page(token, address);
    const [payout] = await payoutsOf(refundId);
    const { db } = at.fixture;
    await storeReverted(db, payout?.id as PayoutId);
    await fail(payout?.id as PayoutId, 'reverted');
    expect((await page(token)).text).toMatch(/The refund has failed[\s\S]*Please ask the shop/);
    expect((await page(token, address)).status).toBe(303);
    expect(await payoutsOf(refundId)).toHaveLength(1);
    expect(await shown(refundId)).toMatchObject({ status: 'failed', payout_id: expect.any(Number) });
    expect(await told(refundId)).toEqual(['claimable', 'pending', 'failed']);
  });

  it('is cancelled when the merchant has cancelled its payout', async () => {
    const { refundId, token } = await aLink();
    await page(token, address);
    const [payout] = await payoutsOf(refundId);
    await fail(payout?.id as PayoutId, CANCELLED);
    expect((await page(token)).text).toContain('The shop has cancelled this link');
    expect((await page(token, address)).status).toBe(303);
    expect(await payoutsOf(refundId)).toHaveLength(1);
    expect((await cancel(refundId)).body.data).toMatchObject({ status: 'cancelled' });
    expect(await told(refundId)).toEqual(['claimable', 'pending', 'cancelled']);
  });

  it('whose time is over is listed as expired before that is stored', async () => {
    const { refundId } = await aLink();
    await expireLink(refundId);
    const ids = async (status: string) =>
      (await at.fixture.shop.get(`/api/refunds?status=${status}`)).body.data.map(
        ({ id }: { id: string }) => id,
      );
    expect([await ids('expired'), await ids('claimable')]).toEqual([[refundId], []]);
    await endRefunds(at.fixture.service.ports);
    expect([await ids('expired'), await ids('claimable')]).toEqual([[refundId], []]);
  });

  it('that expired, was cancelled or is guessed pays nothing', async () => {
    const [late, cancelled] = [await aLink(), await aLink()];
    await expireLink(late.refundId);
    await cancel(cancelled.refundId);
    expect((await page(late.token)).text).toContain('The time to claim it is over');
    expect((await page(cancelled.token)).text).toContain('The shop has cancelled this link');
    for (const { refundId, token } of [late, cancelled]) {
      expect((await page(token, address)).status).toBe(303);
      expect(await payoutsOf(refundId)).toEqual([]);
    }
    for (const token of ['x', 'A'.repeat(27), '%00']) {
      for (const typed of [undefined, address]) expect((await page(token, typed)).status).toBe(404);
    }
    expect(await endRefunds(at.fixture.service.ports)).toBe(1);
    expect(await told(late.refundId)).toEqual(['claimable', 'expired']);
    const refused = await cancel(late.refundId);
    expect([refused.status, refused.body.code]).toEqual([400, 'not_cancelable']);
  });

  it('pays nothing when it is cancelled or expires while an address is being sent', async () => {
    const { ports } = at.fixture.service;
    for (const end of [cancel, expireLink]) {
      const { refundId } = await aLink();
      const stale = await findRefund(ports.db, refundId);
      await end(refundId);
      const paid = await payClaim(ports, stale as StoredRefund, { address }, 'req_1');
      expect(paid).toEqual({ ok: false, refusal: 'not_claimable' });
      expect(await payoutsOf(refundId)).toEqual([]);
    }
    await endRefunds(ports);
  });

  it('whose payout was ended by an older release follows it', async () => {
    const { refundId, token } = await aLink();
    await page(token, address);
    await at.fixture.db.rows(
      `update payouts set status = 'failed', failed_reason = 'x' where refund_id = $1`,
      [refundId],
    );
    expect(await endRefunds(at.fixture.service.ports)).toBe(1);
    expect(await shown(refundId)).toMatchObject({ status: 'claimable' });
  });

  it('stays valid when the secret that its token is derived from changes, and a repeated request has no link then', async () => {
    const [invoice, key] = [at.anInvoice(), { 'idempotency-key': 'changed secret' }];
    const made = await at.refund(invoice, { amount: 'all' }, key);
    const url: string = made.body.data.claim_url;
    const replicas = at.fixture.replicas().map(({ ports }) => ({ ports, settings: ports.settings }));
    for (const { ports, settings } of replicas)
      ports.settings = { ...settings, claimLinksSecret: new Secret('y'.repeat(32)) };
    try {
      const again = await at.refund(invoice, { amount: 'all' }, key);
      expect([again.status, again.body.data]).toEqual([201, { ...made.body.data, claim_url: null }]);
      expect((await page(url.split('/').at(-1) ?? '')).text).toContain('0.05 ETH');
    } finally {
      for (const { ports, settings } of replicas) ports.settings = settings;
    }
  });
});
