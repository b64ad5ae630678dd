import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { api } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import { DUE, type Fixture, MINUTE, openFixture } from './fixture.ts';

const { fixture, mine, withFresh, pay, settle, blocks, pass, reorg } = await openFixture();

/** An invoice with all fields that a merchant may set. */
const anInvoice = (order: object = {}) =>
  fixture.anInvoice({
    external_id: 'secret-order-9',
    succeed_url: 'https://shop.example/thanks?a=1&b="<2>"',
    timeout_url: 'https://shop.example/late',
    ...order,
  });

const open = (id: string) => api(fixture.service.port, 'GET', `/pay/${id}`, { now: fixture.clock.now() });

async function page(id: string): Promise<string> {
  const answer = await open(id);
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(answer.body).not.toContain('secret-order-9');
  expect(answer.body).not.toContain('acc_');
  // Its own script is the last of the page (live-pages.test.ts).
  const text = answer.body.replace(/<script>[\s\S]*?<\/script>/, '');
  expect(text).not.toMatch(/<script|onload|javascript:/i);
  // The page loads nothing from other hosts; only links go there.
  expect(text).not.toMatch(/<(?:img|link|iframe|script)\b|\bsrc=|url\(/i);
  return text;
}

function contains(text: string, ...parts: string[]) {
  for (const part of parts) expect(text).toContain(part);
}
function lacks(text: string, ...parts: string[]) {
  for (const part of parts) expect(text).not.toContain(part);
}

const REFRESH = '<meta http-equiv="refresh" content="5">';

describe('the payment page', () => {
  it('shows the amount, the address and the time left', async () => {
    const { id, shown } = await anInvoice({ expires_in: 30 });
    const text = await page(id);
    contains(
      text,
      '<html lang="en" dir="ltr">',
      'Send 0.01 ETH',
      '<dd class="copy">0.01</dd>',
      `<dd class="copy">${shown}</dd>`,
      `href="ethereum:${shown}@31337?value=10000000000000000"`,
      '30 minutes',
      '25.00 US dollars',
    );
    expect(text).toMatch(/<svg [^>]*role="img" aria-label="[^"]+"/);
    expect(text).toContain(REFRESH);
    fixture.pass(29 * MINUTE + 30_000);
    expect(await page(id)).toContain('30 seconds');
  });

  it('forbids everything that it does not need', async () => {
    const { id } = await anInvoice();
    const { headers, body } = await open(id);
    const style = /<style>([\s\S]*)<\/style>/.exec(body)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = String(headers['content-security-policy']);
    contains(policy, "default-src 'none'", `style-src 'sha256-${hash}'`, "frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    });
    // The policy forbids style attributes.
    expect(body).not.toMatch(/\sstyle=/);
  });

  it('shows the confirmations, then paid with the link back to the shop', async () => {
    const { id, to } = await anInvoice();
    await pay(to, DUE);
    await blocks(1);
    const confirming = await page(id);
    contains(confirming, '2 of 3 confirmations', REFRESH);
    expect(confirming).not.toContain('role="img"');
    await blocks(1);
    // Before the credit the way back leads to the front page: nothing is decided yet.
    const uncredited = await page(id);
    expect(uncredited).not.toContain('shop.example/thanks');
    expect(uncredited).toMatch(/href="https:\/\/shop\.example\/"[^>]*>Back to the shop/);
    await fixture.credit();
    const paid = await page(id);
    expect(paid).toContain('>Paid<');
    expect(paid).not.toContain(REFRESH);
    expect(paid).toContain('href="https://shop.example/thanks?a=1&amp;b=&quot;&lt;2&gt;&quot;"');
  });

  it('says how much more than due was paid, and that the shop can refund it, until it does', async () => {
    const { id, to } = await anInvoice();
    await pay(to, DUE + DUE / 2n);
    const surplus = 'That is 0.005 ETH more than was due, which the shop can refund';
    await blocks(1);
    expect(await page(id)).toContain(surplus);
    await blocks(1);
    await fixture.credit();
    contains(await page(id), '>Paid<', surplus);
    await fixture.tell('refund.updated', {
      ...{ refund_id: `ref_1_${id}`, invoice_id: id, account_id: 'acc_1', version: 1, asset: 'ETH' },
      ...{ status: 'pending', amount: '5', share: (DUE / 2n).toString(), payout_id: '7' },
      created_at: '2026-03-02T12:00:00.000Z',
    });
    await eventually(async () => lacks(await page(id), 'more than was due'));
    const exact = await anInvoice();
    await pay(exact.to, DUE);
    await settle();
    lacks(await page(exact.id), 'more than was due');
  });

  it('shows that the network reversed the payment', async () => {
    const { id, to } = await anInvoice();
    await pay(to, DUE);
    await settle();
    await reorg(3, {}, {}, {}, {}, {}, {});
    const text = await page(id);
    contains(text, '>Payment undone<', '0.01 ETH were undone by the network');
    lacks(text, 'Thank you', ';url=');
    contains(text, REFRESH, 'data-events=');
    expect(text).toContain('href="https://shop.example/late"');
  });

  it('warns after the expiry, also before the invoice is closed', async () => {
    const { id, shown, to } = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE + 1);
    const over = await page(id);
    expect(over).toContain('do not pay any more');
    expect(over).not.toContain(shown);
    expect(over).toContain(REFRESH);
    await blocks(1);
    const expired = await page(id);
    contains(expired, '>Expired<', 'href="https://shop.example/late"');
    lacks(expired, shown);
    // It says that a payment will show here.
    expect(expired).toContain('data-events=');
    expect(expired).toContain('your money is not lost');
    await pay(to, DUE);
    const late = await page(id);
    contains(late, 'Your payment came too late', 'the shop, which can accept it or send it back', '0.01 ETH');
  });

  it('reloads less often the longer nothing changes, and quickly again after a change', async () => {
    const { id, to } = await anInvoice({ expires_in: 120 });
    const seconds = async () => /http-equiv="refresh" content="(\d+)"/.exec(await page(id))?.[1];
    expect(await seconds()).toBe('5');
    fixture.pass(10 * MINUTE);
    expect(await seconds()).toBe('15');
    fixture.pass(50 * MINUTE);
    expect(await seconds()).toBe('60');
    await pay(to, DUE / 4n);
    expect(await seconds()).toBe('5');
    fixture.pass(59 * MINUTE + 30_000);
    // The page reloads at the expiry.
    expect(await seconds()).toBe('15');
    fixture.pass(23_000);
    expect(await seconds()).toBe('7');
    fixture.pass(8_000);
    expect(await page(id)).toContain('do not pay any more');
    expect(await seconds()).toBe('5');
    fixture.pass(2 * 24 * 60 * MINUTE);
    expect(await seconds()).toBe('300');
  });

  it('shows an underpaid invoice and payments that do not count', async () => {
    const { id, to } = await anInvoice({ expires_in: 1 });
    await mine({
      pay: [
        { to, amount: DUE / 2n },
        { to, amount: 1n },
        { to, amount: 3_000_000n, asset: 'USDC_ERC20', index: 1 },
      ],
    });
    await pass(2 * MINUTE);
    const text = await page(id);
    contains(text, '0.005 ETH arrived', 'too little to count');
    expect(text).toMatch(/3 USDC<\/span>.*another currency, not counted/);
    contains(text, REFRESH, 'data-events=');
  });

  it('answers an unknown invoice with a page', async () => {
    for (const id of ['nothing', `inv_${'0'.repeat(36)}`, '%3Cscript%3E']) {
      const answer = await open(id);
      expect(answer).toMatchObject({ status: 404, headers: { 'content-type': 'text/html; charset=utf-8' } });
      expect(answer.body).toContain('There is no such payment');
      expect(answer.body).not.toContain('script');
    }
  });
});

describe('the payment page on other chains', () => {
  const other = (
    chain: 'bitcoin' | 'solana',
    asset: string,
    work: (at: Fixture, to: string, id: string) => Promise<void>,
  ) =>
    withFresh({ chain }, async (there) => {
      await there.scan();
      const pooled = `insert into address_pool values ('solana', 0, 'Ds1Ed5GoyDVfnTFSQJGPBLfQQhqKVkSUs1nQxz9LPdrx')`;
      await there.rows(pooled);
      const invoice = await there.merchant().invoice({ asset });
      await work(there, invoice.address.address, invoice.id);
    });
  const shown = async (at: Fixture, id: string): Promise<string> =>
    (await api(at.service.port, 'GET', `/pay/${id}`, { now: at.clock.now() })).body;

  it.each([
    ['BTC', 'bitcoin', 'Bitcoin', '0.0005', 'BTC', (to: string) => `bitcoin:${to}?amount=0.0005"`],
    ['SOL', 'solana', 'Solana', '0.25', 'SOL', (to: string) => `solana:${to}?amount=0.25&amp;reference=`],
    [
      'USDC_SOL',
      'solana',
      'Solana',
      '25',
      'USDC',
      (to: string) =>
        `solana:${to}?amount=25&amp;spl-token=4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU&amp;reference=`,
    ],
  ] as const)(
    '%s: amount, address, network, and what a wallet opens',
    async (asset, chain, network, amount, name, uri) => {
      await other(chain, asset, async (at, to, id) => {
        const text = await shown(at, id);
        contains(
          text,
          `Send ${amount} ${name}`,
          `<dd class="copy">${amount}</dd>`,
          `<dd class="copy">${to}</dd>`,
          `<dt>Network</dt><dd>${network}</dd>`,
          `href="${uri(to)}`,
        );
        // The own coin of a network has one name, and is named once.
        expect(text.includes('<dt>Currency</dt>')).toBe(asset === 'USDC_SOL');
        expect(text).toMatch(/<svg [^>]*role="img"/);
      });
    },
  );

  it('shows a mempool payment as seen, and a replaced one as replaced', async () => {
    await other('bitcoin', 'BTC', async (at, to, id) => {
      const [{ txHash } = {}] = at.chain.wait({ to, amount: 50_000n });
      await at.scan();
      const seen = await shown(at, id);
      contains(seen, 'Payment seen', 'waits for its first block', 'seen, waiting for its first block');
      expect(seen).not.toContain('role="img"');
      expect(seen).toContain(REFRESH);
      at.chain.forget(txHash ?? '');
      await at.scan();
      const replaced = await shown(at, id);
      contains(replaced, 'Send 0.0005 BTC', 'replaced or dropped before its first block');
    });
  });
});
