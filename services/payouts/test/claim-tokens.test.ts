import { expect, it } from '@jest/globals';
import { Secret } from '@quittance/shared/secret';
import { refundsSuite } from './refunds-fixture.ts';

/** The tokens of claim links, which are derived. */
const at = refundsSuite();

it('a claim link stays valid when the secret that its token is derived from changes, and a repeated request has no link then', async () => {
  const [invoice, key] = [at.anInvoice(), { 'idempotency-key': 'changed secret' }];
  const made = await at.refund(invoice, { amount: 'all' }, key);
  const url: string = made.body.data.claim_url;
  for (const { ports } of at.fixture.replicas())
    ports.settings = { ...ports.settings, claimLinksSecret: new Secret('y'.repeat(32)) };
  const again = await at.refund(invoice, { amount: 'all' }, key);
  expect([again.status, again.body.data]).toEqual([201, { ...made.body.data, claim_url: null }]);
  expect((await at.page(url.split('/').at(-1) ?? '')).text).toContain('0.05 ETH');
});
