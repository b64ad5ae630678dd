import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { ETHER, type Fixture, MINUTE, openFixture } from './fixture.ts';
import { api } from './replica.ts';

const DUE = ETHER / 100n;

const { fixture, withFresh } = await openFixture();

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
  expect(answer.body).not.toMatch(/<script|onload|javascript:/i);
  // The page loads nothing from other hosts; only links go there.
  expect(answer.body).not.toMatch(/<(?:img|link|iframe|script)\b|\bsrc=|url\(/i);
  return answer.body;
}

const REFRESH = '<meta http-equiv="refresh" content="5">';

async function pay(to: string, amount: bigint, more = 0) {
  fixture.chain.mine({ pay: [{ to, amount }] }, ...Array.from({ length: more }, () => ({})));
  await fixture.scan();
}

describe('the payment page', () => {
  it('shows the amount, the address and the time left', async () => {
    const { id, shown } = await anInvoice({ expires_in: 30 });
    const text = await page(id);
    expect(text).toContain('<html lang="en">');
    expect(text).toContain('Send 0.01 ETH');
    expect(text).toContain(`<dd class="copy">${shown}</dd>`);
    expect(text).toContain(`href="ethereum:${shown}@31337?value=10000000000000000"`);
    expect(text).toContain('30 minutes');
    expect(text).toContain('25.00 US dollars');
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
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`style-src 'sha256-${hash}'`);
    expect(policy).toContain("frame-ancestors 'none'");
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

  it('asks for the rest after a partial payment', async () => {
    const { id, shown, to } = await anInvoice();
    await pay(to, DUE / 4n);
    const text = await page(id);
    expect(text).toContain('Send 0.0075 ETH more');
    expect(text).toContain(`ethereum:${shown}@31337?value=7500000000000000`);
    expect(text).toContain('1 of 3 confirmations');
    expect(text).toContain(REFRESH);
  });

  it('shows the confirmations, then paid with the link back to the shop', async () => {
    const { id, to } = await anInvoice();
    await pay(to, DUE, 1);
    const confirming = await page(id);
    expect(confirming).toContain('2 of 3 confirmations');
    expect(confirming).toContain(REFRESH);
    expect(confirming).not.toContain('<svg');
    fixture.chain.mine({});
    await fixture.scan();
    expect(await page(id)).not.toContain('Back to the shop');
    await fixture.credit();
    const paid = await page(id);
    expect(paid).toContain('>Paid<');
    expect(paid).not.toContain(REFRESH);
    expect(paid).toContain('href="https://shop.example/thanks?a=1&amp;b=&quot;&lt;2&gt;&quot;"');
  });

  it('shows that the network reversed the payment', async () => {
    const { id, to } = await anInvoice();
    await pay(to, DUE, 2);
    await fixture.credit();
    fixture.chain.reorg(3, {}, {}, {}, {}, {}, {});
    await fixture.scan();
    const text = await page(id);
    expect(text).toContain('>Payment undone<');
    expect(text).toContain('0.01 ETH were undone by the network');
    expect(text).not.toContain('Thank you');
    expect(text).not.toContain('http-equiv="refresh"');
    expect(text).toContain('href="https://shop.example/late"');
  });

  it('warns after the expiry, also before the invoice is closed', async () => {
    const { id, shown, to } = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE + 1);
    const over = await page(id);
    expect(over).toContain('do not pay any more');
    expect(over).not.toContain(shown);
    expect(over).toContain(REFRESH);
    fixture.chain.mine({});
    await fixture.scan();
    const expired = await page(id);
    expect(expired).toContain('>Expired<');
    expect(expired).toContain('href="https://shop.example/late"');
    expect(expired).not.toContain(shown);
    expect(expired).not.toContain(REFRESH);
    expect(expired).toContain('your money is not lost');
    await pay(to, DUE);
    const late = await page(id);
    expect(late).toContain('Your payment came too late');
    expect(late).toContain('the shop, which can accept it or send it back');
    expect(late).toContain('0.01 ETH');
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
    fixture.chain.mine({
      pay: [
        { to, amount: DUE / 2n },
        { to, amount: 1n },
        { to, amount: 3_000_000n, asset: 'USDC_ERC20', index: 1 },
      ],
    });
    await fixture.scan();
    fixture.pass(2 * MINUTE);
    fixture.chain.mine({});
    await fixture.scan();
    const text = await page(id);
    expect(text).toContain('0.005 ETH arrived');
    expect(text).toContain('too little to count');
    expect(text).toMatch(/3 USDC<\/span>.*another currency, not counted/);
    expect(text).not.toContain(REFRESH);
  });

  it('shows the link and the network of a token', async () => {
    const { id, shown } = await anInvoice({ asset: 'USDC_ERC20' });
    const text = await page(id);
    expect(text).toContain('Send 25 USDC');
    expect(text).toContain(`/transfer?address=${shown}&amp;uint256=25000000`);
    expect(text).toContain('<dd>Ethereum</dd>');
  });

  it('answers an unknown invoice with a page', async () => {
    for (const id of ['nothing', `inv_${'0'.repeat(36)}`, '%3Cscript%3E']) {
      const answer = await open(id);
      expect(answer).toMatchObject({ status: 404, headers: { 'content-type': 'text/html; charset=utf-8' } });
      expect(answer.body).toContain('There is no such payment');
      expect(answer.body).not.toContain('script');
    }
  });

  it('needs no token and answers HEAD', async () => {
    const { id } = await anInvoice();
    const head = await api(fixture.service.port, 'HEAD', `/pay/${id}`, { now: fixture.clock.now() });
    expect(head).toMatchObject({ status: 200, body: '' });
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
    ['BTC', 'bitcoin', 'Bitcoin', '0.0005', 'BTC', (to: string) => `bitcoin:${to}?amount=0.0005`],
    ['SOL', 'solana', 'Solana', '0.25', 'SOL', (to: string) => `solana:${to}?amount=0.25`],
    [
      'USDC_SOL',
      'solana',
      'Solana',
      '25',
      'USDC',
      (to: string) => `solana:${to}?amount=25&amp;spl-token=4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU`,
    ],
  ] as const)(
    '%s: amount, address, network, and what a wallet opens',
    async (asset, chain, network, amount, name, uri) => {
      await other(chain, asset, async (at, to, id) => {
        const text = await shown(at, id);
        expect(text).toContain(`Send ${amount} ${name}`);
        expect(text).toContain(`<dd class="copy">${amount}</dd>`);
        expect(text).toContain(`<dd class="copy">${to}</dd>`);
        expect(text).toContain(`<dt>Network</dt><dd>${network}</dd>`);
        expect(text).toContain(`href="${uri(to)}"`);
        expect(text).toMatch(/<svg [^>]*role="img"/);
      });
    },
  );

  it('shows a mempool payment as seen, and a replaced one as replaced', async () => {
    await other('bitcoin', 'BTC', async (at, to, id) => {
      const [{ txHash } = {}] = at.chain.wait({ to, amount: 50_000n });
      await at.scan();
      const seen = await shown(at, id);
      expect(seen).toContain('Payment seen');
      expect(seen).toContain('waits for its first block');
      expect(seen).toContain('seen, waiting for its first block');
      expect(seen).not.toContain('<svg');
      expect(seen).toContain(REFRESH);
      at.chain.forget(txHash ?? '');
      await at.scan();
      const replaced = await shown(at, id);
      expect(replaced).toContain('Send 0.0005 BTC');
      expect(replaced).toContain('replaced or dropped before its first block');
    });
  });
});
