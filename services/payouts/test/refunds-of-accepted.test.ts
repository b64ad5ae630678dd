import { describe, expect, it } from '@jest/globals';
import { FINNEY, refundsSuite } from './refunds-fixture.ts';
import { recipient as address } from './service-fixture.ts';

/** Refunds of invoices that are not paid, whose funds were accepted. */
const at = refundsSuite();
const { anInvoice, refund, aLink, page, payoutsOf, shown } = at;

/** What came for it, in finneys, and was accepted; 40 are due. */
function anAccepted(finneys: bigint, status = 'partially_paid'): string {
  const id = anInvoice({ status, paid_amount: (status === 'expired' ? 0n : 30n * FINNEY).toString() });
  at.fixture.ledger.accepted.set(id, finneys * FINNEY);
  return id;
}

describe('an invoice that is not paid', () => {
  it.each(['expired', 'partially_paid'])(
    'and is %s is refunded as far as its funds were accepted',
    async (status) => {
      const id = anAccepted(20n, status);
      const part = await refund(id, { amount: 25, address });
      expect([part.status, part.body.data]).toMatchObject([201, { status: 'pending', share: '0.01' }]);
      const more = await refund(id, { amount: 25.01, address });
      expect([more.status, more.body.code]).toEqual([400, 'refund_too_large']);
      expect((await refund(id, { amount: 'surplus', address })).body.code).toBe('nothing_to_refund');
      expect((await refund(id, { amount: 'all', address })).body.data).toMatchObject({ share: '0.01' });
      expect((await refund(id, { amount: 'all', address })).body.code).toBe('nothing_to_refund');
    },
  );

  it('has a surplus when more than was due was accepted', async () => {
    expect((await refund(anAccepted(45n), { amount: 'surplus' })).body.data).toMatchObject({
      share: '0.005',
    });
  });

  it('is not refunded before its funds are accepted, and the hint says so', async () => {
    const { status, body } = await refund(anAccepted(0n), { amount: 'all', address });
    expect([status, body]).toMatchObject([
      400,
      { code: 'nothing_to_refund', hint: expect.stringMatching(/return them .* or accept them/) },
    ]);
  });

  it('pays no claim link while the network has taken the accepted funds back', async () => {
    const id = anAccepted(20n);
    const { refundId, token } = await aLink({ amount: 'all' }, id);
    at.fixture.ledger.accepted.delete(id);
    expect((await page(token, address)).status).toBe(409);
    expect([await payoutsOf(refundId), await shown(refundId)]).toMatchObject([[], { status: 'claimable' }]);
    at.fixture.ledger.accepted.set(id, 20n * FINNEY);
    expect((await page(token, address)).status).toBe(303);
    expect(await payoutsOf(refundId)).toMatchObject([{ amount: (20n * FINNEY).toString() }]);
  });
});
