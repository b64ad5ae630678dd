import { describe, expect, it } from '@jest/globals';
import { DUE, openFixture } from './fixture.ts';
import { api } from './replica.ts';

const { fixture, anInvoice, pay, pass } = await openFixture();

describe('an invoice that a shop works with', () => {
  it('shows its description to the customer as text, and its metadata to the merchant alone', async () => {
    const description = '<b onclick="x">5 & 6</b>';
    const metadata = JSON.parse('{"order 10":" 7 ","order 9":"","__proto__":"x"}');
    const { id, read, last } = await anInvoice({ description, metadata });
    const text = JSON.stringify((await read()).metadata);
    expect(text).toBe(JSON.stringify(metadata));
    expect((await last())?.payload.data).toMatchObject({ description });
    expect(JSON.stringify((await last())?.payload.data.metadata)).toHaveLength(text.length);
    const { body } = await api(fixture.service.port, 'GET', `/pay/${id}`, { now: fixture.clock.now() });
    expect(body).toContain('<dd dir="auto">&lt;b onclick=&quot;x&quot;&gt;5 &amp; 6&lt;/b&gt;</dd>');
    expect(body).not.toContain('order 10');
  });

  it.each([
    [
      { description: 'x'.repeat(501) },
      'description',
      'The description must not be greater than 500 characters.',
    ],
    [{ metadata: { a: 5 } }, 'metadata.a', 'The metadata.a must be a string.'],
    [{ currency: 'EUR' }, 'currency', 'The selected currency is invalid.'],
  ])('422: %j', async (more, field, message) => {
    const answer = await fixture.merchant().post('/api/invoices', { asset: 'ETH', amount: 25, ...more });
    expect(answer).toMatchObject({ status: 422, body: { errors: { [field]: [message] } } });
    if (field === 'currency') expect(answer.body.hint).toContain('Valid: USD.');
  });

  it('asks in its URI for what remains, and for nothing more when enough was seen', async () => {
    const { shown, to, shows } = await anInvoice({ currency: 'USD' });
    const uri = (value: bigint) => ({ address: { uri: `ethereum:${shown}@31337?value=${value}` } });
    await shows({ currency: 'USD', amount_remaining: '0.01', ...uri(DUE) });
    await pay(to, DUE / 4n);
    await shows({ status: 'partially_paid', amount_remaining: '0.0075', ...uri((DUE * 3n) / 4n) });
    await pass(1_000);
    await pay(to, DUE);
    await shows({ status: 'confirmed', amount_remaining: '0', address: { address: shown, uri: shown } });
  });
});
