import { describe, expect, it } from '@jest/globals';
import { DUE, MINUTE, openFixture } from './fixture.ts';
import { linksOf } from './link-fixture.ts';
import type { Any } from './replica.ts';

const { fixture, pay, settle, blocks } = await openFixture();

const SETTINGS = '/api/invoice-settings';

describe('an invoice that never expires', () => {
  async function unending() {
    const shop = fixture.merchant();
    await shop.patch(SETTINGS, { expires_in: null });
    const made: Any = await shop.invoice();
    expect(made.expires_at).toBeNull();
    return { shop, made, to: made.address.address.toLowerCase() as string };
  }

  it('stays open, has no time left on its page, and can be paid after months', async () => {
    const { shop, made, to } = await unending();
    fixture.pass(90 * 24 * 60 * MINUTE);
    await blocks(2);
    expect(await shop.read(made.id)).toMatchObject({ status: 'pending', expires_at: null });
    const { body: shown } = await linksOf(fixture).page(`/pay/${made.id}`);
    expect(shown).toContain('Send 0.01 ETH');
    expect(shown).not.toContain('Time left');
    await pay(to, DUE / 4n);
    expect(await shop.read(made.id)).toMatchObject({ status: 'partially_paid', amount_remaining: '0.0075' });
    await pay(to, (DUE * 3n) / 4n);
    await settle();
    expect(await shop.read(made.id)).toMatchObject({ status: 'paid', paid_amount: '0.01', expires_at: null });
  });

  it('of which a part is paid is cancelled when the part is final, which is unresolved then', async () => {
    const { shop, made, to } = await unending();
    const cancel = () => shop.post(`/api/invoices/${made.id}/cancel`, {});
    await pay(to, DUE / 4n);
    expect(await cancel()).toMatchObject({ status: 400, body: { code: 'not_cancelable' } });
    await settle();
    const now = fixture.clock.at.toISOString();
    const ended = { status: 'partially_paid', paid_amount: '0.0025', cancelled_at: now, expires_at: now };
    expect(await cancel()).toMatchObject({ status: 200, body: { data: ended } });
    expect(await cancel()).toMatchObject({ status: 200, body: { data: ended } });
    const told = await fixture.told(made.id);
    expect(told.map(({ kind }) => kind)).toEqual([
      'invoice.created',
      'invoice.partially_paid',
      'deposit.settled',
      'invoice.underpaid',
    ]);
    fixture.pass(1_000);
    await pay(to, DUE);
    expect((await fixture.told(made.id)).at(-1)?.kind).toBe('invoice.late_payment');
  });
});
