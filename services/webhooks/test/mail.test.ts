import { expect, test } from '@jest/globals';
import {
  attemptMail,
  type ClaimedMail,
  claimMail,
  recordMail,
  sendMails,
} from '../src/operations/send-mails.ts';
import { anAccount, anEvent, HOUR } from './fixture.ts';
import { anInvoiceView, openMailFixture, sender } from './mail-fixture.ts';
import { SMTP_USER } from './smtp-server.ts';

const fixture = await openMailFixture();
const { aRecipient, happened, send, ports, clock, receive } = fixture;

test('a paid invoice is told once, encrypted, by the sender of the installation', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'invoice.paid');
  await send();
  const [mail] = recipient.mails();
  expect(recipient.mails()).toHaveLength(1);
  expect(mail).toMatchObject({
    from: sender.address,
    to: [recipient.address],
    isEncrypted: true,
    user: SMTP_USER,
    subject: 'Paid: 10.00 USD',
  });
  expect(mail?.header('From')).toBe('Example Payments <payments@pay.example>');
  expect(mail?.text).toContain('Description: Two cups\nPrice: 10.00 USD\nReceived: 0.004 ETH\nId: inv_1\n');
  expect(mail?.text).toContain('\nhttp://quittance.test/dashboard/invoices/inv_1\n');
  expect(mail?.html).toContain('<td>0.004 ETH</td>');
  expect(mail?.raw).not.toMatch(/secret of a customer/);
  expect(await recipient.shown()).toMatchObject({
    status: 'active',
    last_sent_at: clock.now().toISOString(),
    last_failure: null,
  });
});

test('an event that is recorded again makes no second mail', async () => {
  const recipient = await aRecipient();
  const happening = {
    eventKey: 'evt_1',
    accountId: recipient.account,
    kind: 'paid' as const,
    happenedAt: clock.now(),
    facts: { type: 'invoice_paid' as const, id: 'inv_1' },
  };
  const { recordMailNotifications } = await import('../src/operations/mail-notifications.ts');
  for (let i = 0; i < 2; i++) {
    await ports.db.transaction((trx) => recordMailNotifications(trx, [happening], ports.mailer, clock.now()));
    await send();
  }
  expect(recipient.mails()).toHaveLength(1);
});

test.each([
  ['invoice.late_payment', anInvoiceView(), 'Paid late: 10.00 USD', /Due: 0\.004 ETH\n/],
  [
    'invoice.underpaid',
    anInvoiceView({ paid_amount: '0.003' }),
    'Paid short: 10.00 USD',
    /Received: 0\.003 ETH\nDue: 0\.004 ETH\n/,
  ],
  [
    'invoice.unresolved_payment',
    anInvoiceView({ unresolved: { id: 'dep_1', amount: '7.5', asset: { symbol: 'USDC_ERC20' } } }),
    'Funds wait for your decision: 7.5 USDC_ERC20',
    /dashboard\/unresolved\n/,
  ],
  [
    'payout.failed',
    { id: 77, amount: '1.5', asset: { symbol: 'SOL' }, failed_reason: 'The recipient refuses it.' },
    'Payout failed: 1.5 SOL',
    /Reason: The recipient refuses it\.\nId: 77\n[\s\S]*dashboard\/payouts\/77\n/,
  ],
  [
    'automatic_payout.failed',
    { asset: { symbol: 'BTC' }, last_error: 'insufficient_balance' },
    'Automatic payout failed: BTC',
    /Reason: insufficient_balance\n/,
  ],
] as const)('%s is told', async (kind, data, subject, text) => {
  const recipient = await aRecipient();
  await happened(recipient.account, kind, data);
  await send();
  expect(recipient.mails()).toEqual([
    expect.objectContaining({ subject, text: expect.stringMatching(text) }),
  ]);
});

test('a payout that its owner has cancelled, and what no mail is about, are not told', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'payout.failed', { id: 7, failed_reason: 'cancelled' });
  await happened(recipient.account, 'invoice.created');
  await happened(recipient.account, 'invoice.expired');
  expect(await send()).toBe(0);
});

test('a recipient is told of the kinds that it wants, and of no other account', async () => {
  const account = anAccount();
  const [sales, payouts] = [
    await aRecipient({ account, kinds: ['paid'] }),
    await aRecipient({ account, kinds: ['payout_failed'] }),
  ];
  const stranger = await aRecipient();
  await happened(account, 'invoice.paid');
  await happened(account, 'payout.failed', { id: 1, failed_reason: 'x' });
  await send();
  expect(sales.subjects()).toEqual(['Paid: 10.00 USD']);
  expect(payouts.subjects()).toEqual(['Payout failed']);
  expect(stranger.mails()).toEqual([]);
});

test('two replicas that send at the same time send each mail once', async () => {
  const recipients: Awaited<ReturnType<typeof aRecipient>>[] = [];
  while (recipients.length < 6) recipients.push(await aRecipient());
  for (const { account } of recipients)
    for (const id of ['inv_1', 'inv_2']) await happened(account, 'invoice.paid', anInvoiceView({ id }));
  for (let round = 0; round < 10; round++)
    await Promise.all([sendMails(ports), sendMails(ports), sendMails(ports)]);
  for (const { mails } of recipients)
    expect(
      mails()
        .map(({ text }) => /Id: (\S+)/.exec(text)?.[1])
        .sort(),
    ).toEqual(['inv_1', 'inv_2']);
});

async function claimed(): Promise<ClaimedMail> {
  const mail = await claimMail(ports);
  if (typeof mail === 'string') throw new Error(`nothing to send: ${mail}`);
  return mail;
}

test('a mail whose sender died before it was recorded is sent again with the same Message-ID, and no other process sends it before', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'invoice.paid');
  expect((await attemptMail(ports, await claimed())).kind).toBe('sent');
  expect(await send()).toBe(0);
  clock.advance(61_000);
  expect(await send()).toBe(1);
  const [first, second] = recipient.mails();
  expect(recipient.mails()).toHaveLength(2);
  expect(second?.header('Message-ID')).toBe(first?.header('Message-ID'));
  expect(first?.header('Message-ID')).toMatch(/^<mail_[0-9a-z]{36}@pay\.example>$/);
  clock.advance(61_000);
  expect(await send()).toBe(0);
});

test('an attempt that ends after another process has taken over changes nothing', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'invoice.paid');
  const late = await claimed();
  clock.advance(61_000);
  await send();
  await recordMail(ports, late, { kind: 'refused', reason: '550 late' });
  expect(await recipient.shown()).toMatchObject({ last_failure: null });
  expect(await send()).toBe(0);
});

test('a description is one line of text: it is no header, no HTML and no line of ours', async () => {
  const recipient = await aRecipient();
  const description =
    'Cups\r\nBcc: victim@else.example\r\n\r\n<script>alert(1)</script> \u202Egpj.exe\u2028Code: X\u0000';
  await happened(
    recipient.account,
    'invoice.late_payment',
    anInvoiceView({ description, amount_fiat: '1\r\nBcc: a@b.example' }),
  );
  await send();
  const [mail] = recipient.mails();
  expect(mail?.to).toEqual([recipient.address]);
  expect(mail?.raw).not.toMatch(/^Bcc:/im);
  expect(mail?.header('Bcc')).toBeUndefined();
  expect(mail?.text).toContain(
    'Description: Cups Bcc: victim@else.example <script>alert(1)</script> gpj.exe Code: X\n',
  );
  expect(mail?.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(mail?.html).not.toContain('<script');
});

test('after ten single mails in an hour there is one summary an hour, with exact totals', async () => {
  const recipient = await aRecipient({ kinds: ['paid', 'payout_failed'] });
  const { account } = recipient;
  const sell = async (many: number, of: Record<string, unknown> = {}) => {
    for (let i = 0; i < many; i++) {
      await happened(account, 'invoice.paid', anInvoiceView(of));
      await send();
    }
  };
  await sell(10);
  expect(recipient.subjects()).toEqual(Array(10).fill('Paid: 10.00 USD'));
  await sell(40, { paid_amount: '0.1', amount_fiat: '0.10' });
  await sell(2, { paid_amount: '0.000000000000000001', amount_fiat: '9007199254740993.01', currency: 'EUR' });
  expect(recipient.mails()).toHaveLength(10);
  // What needs attention does not wait for it.
  await happened(account, 'payout.failed', { id: 1, failed_reason: 'x' });
  await send();
  expect(recipient.subjects().at(-1)).toBe('Payout failed');

  clock.advance(HOUR);
  expect(await send()).toBe(1);
  const summary = recipient.mails().at(-1);
  expect(summary?.subject).toBe('42 invoices paid');
  expect(summary?.text).toContain('Invoices paid: 42\n');
  expect(summary?.text).toContain('Invoices paid, total: 18014398509481986.02 EUR\n');
  expect(summary?.text).toContain('Invoices paid, total: 4 USD\n');
  expect(summary?.text).toContain('Invoices paid, total: 4.000000000000000002 ETH\n');

  await sell(3);
  expect(recipient.mails()).toHaveLength(12);
  clock.advance(HOUR);
  await send();
  // Ten a hour are not reached any more.
  expect(recipient.subjects().slice(12)).toEqual(Array(3).fill('Paid: 10.00 USD'));
});

test('ten thousand sales in a day make at most a mail an hour and the ten single ones', async () => {
  const recipient = await aRecipient();
  const { account } = recipient;
  let day = 0;
  for (let hour = 0; hour < 24; hour++) {
    for (let part = 0; part < 6; part++) {
      const sale = { account, kind: 'invoice.paid', data: anInvoiceView(), at: clock.now() } as const;
      await receive(...Array.from({ length: 70 }, () => anEvent(sale)));
      day += 70;
      await send();
      clock.advance(HOUR / 6);
    }
  }
  clock.advance(HOUR);
  await send();
  expect(day).toBe(10_080);
  expect(recipient.mails().length).toBeLessThanOrEqual(26);
  const told = recipient.subjects().map((subject) => /^(\d+) invoices/.exec(subject)?.[1] ?? '1');
  expect(told.reduce((all, count) => all + BigInt(count), 0n)).toBe(BigInt(day));
});
