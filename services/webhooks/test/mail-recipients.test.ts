import { expect, test } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import type { Ports } from '../src/ports.ts';
import { anAccount, conflict, DAY, forbidden, invalid } from './fixture.ts';
import { anAddress, MINUTE, openMailFixture } from './mail-fixture.ts';

const fixture = await openMailFixture();
const { aRecipient, add, call, clock, codeFor, db, happened, port, send, smtp } = fixture;

test('an address is told of nothing before its code is given back', async () => {
  const [account, address] = [anAccount(), anAddress()];
  const made = await add(account, ` ${address} `, ['paid']);
  expect(made).toEqual({
    status: 201,
    body: {
      message: 'Mail recipient created successfully.',
      data: {
        ...{
          id: expect.stringMatching(/^mrc_[0-9a-z]{36}$/),
          address,
          kinds: ['paid'],
          status: 'unconfirmed',
        },
        ...{ paused_reason: null, code_expires_at: null, confirmed_at: null, last_sent_at: null },
        ...{ last_failure: null, last_failed_at: null, created_at: clock.now().toISOString() },
      },
    },
  });
  await happened(account, 'invoice.paid');
  await send();
  expect(smtp.mailsTo(address).map(({ subject }) => subject)).toEqual(['Your confirmation code']);
  const path = `/api/mail-recipients/${made.body.data.id}`;
  expect((await call('GET', path, account)).body.code_expires_at).toBe(clock.hence(DAY));

  const code = codeFor(address);
  expect(code).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}$/);
  const dump = JSON.stringify(
    await db.rows(`select encode(code_hash, 'escape') as hash, r.* from mail_recipients r`),
  );
  expect(dump).toContain(address);
  expect(dump.toLowerCase()).not.toContain(code.toLowerCase().replaceAll('-', ''));

  const confirmed = await call('POST', `${path}/confirm`, account, {
    code: code.toLowerCase().replace('-', ' '),
  });
  expect(confirmed).toMatchObject({
    status: 200,
    body: { data: { status: 'active', code_expires_at: null } },
  });
  await happened(account, 'invoice.paid');
  await send();
  expect(smtp.mailsTo(address)).toHaveLength(2);
});

const noCode = invalid({ code: ['There is no code that can be given.'] });
const wrong = invalid({ code: ['The code is wrong.'] });

async function unconfirmed() {
  const [account, address] = [anAccount(), anAddress()];
  const { id } = (await add(account, address)).body.data;
  await send();
  const path = `/api/mail-recipients/${id}`;
  return {
    ...{ account, address, path, code: codeFor(address) },
    confirm: (code: string) => call('POST', `${path}/confirm`, account, { code }),
    again: () => call('POST', `${path}/code`, account),
  };
}

test('a wrong code is refused, and after five the right one too', async () => {
  const { confirm, code } = await unconfirmed();
  for (let i = 0; i < 5; i++) expect(await confirm('0000-0000-0000')).toEqual(wrong);
  expect(await confirm(code)).toEqual(noCode);
});

test('a code counts for a day', async () => {
  const { confirm, code } = await unconfirmed();
  clock.advance(DAY);
  expect(await confirm(code)).toEqual(noCode);
});

test('a code counts once', async () => {
  const { confirm, code } = await unconfirmed();
  expect((await confirm(code)).status).toBe(200);
  expect(await confirm(code)).toEqual(noCode);
});

test('a new code takes the place of the former one, at most once a minute', async () => {
  const { confirm, code, again, address } = await unconfirmed();
  expect(await again()).toEqual(conflict(/less than a minute ago/));
  clock.advance(MINUTE);
  expect((await again()).status).toBe(202);
  await send();
  expect(codeFor(address)).not.toBe(code);
  expect(await confirm(code)).toEqual(wrong);
  expect((await confirm(codeFor(address))).status).toBe(200);
  clock.advance(MINUTE);
  expect(await again()).toEqual(conflict(/confirmed already/));
});

/** An account has a code sent to an address, and removes its recipient again. */
async function codeSent(account: AccountId, address: string) {
  const made = await add(account, address);
  if (made.status === 201) await call('DELETE', `/api/mail-recipients/${made.body.data.id}`, account);
  clock.advance(MINUTE);
  return made;
}

test('an address is sent five codes a day, also when it is removed and added again, and by other accounts', async () => {
  const address = anAddress();
  const sent = () => codeSent(anAccount(), address);
  for (let i = 0; i < 5; i++) expect((await sent()).status).toBe(201);
  expect(await sent()).toEqual(conflict(/At most 5 codes/));
  clock.advance(DAY);
  expect((await sent()).status).toBe(201);
});

test('an account has twenty codes sent a day', async () => {
  const account = anAccount();
  for (let i = 0; i < 20; i++) expect((await codeSent(account, anAddress())).status).toBe(201);
  expect(await codeSent(account, anAddress())).toEqual(conflict(/20 for an account/));
});

test('an account has at most ten recipients, also with concurrent requests, and each address once', async () => {
  const account = anAccount();
  const made = await Promise.all(Array.from({ length: 12 }, () => add(account, anAddress())));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(made.find(({ status }) => status !== 201)).toEqual(
    invalid({ address: ['The mail recipients must not have more than 10 items.'] }),
  );
  const { id, address } = made.find(({ status }) => status === 201)?.body.data ?? {};
  expect((await call('DELETE', `/api/mail-recipients/${id}`, account)).status).toBe(200);
  const other = (await call('GET', '/api/mail-recipients', account)).body.data[0].address;
  expect(await add(account, other.toUpperCase())).toEqual(
    invalid({ address: ['The address has already been taken.'] }),
  );
  clock.advance(MINUTE);
  expect((await add(account, address)).status).toBe(201);
});

test.each([
  'till',
  'till@shop',
  'a@b.example, c@d.example',
  'Till <till@shop.example>',
  '"victim@else.example x"@shop.example',
  'till@shop.example\r\nBcc: victim@else.example',
  'till@[127.0.0.1]',
  'till@127.0.0.1',
  'tíll@shop.example',
  '.till@shop.example',
  `${'a'.repeat(65)}@shop.example`,
  'till@shop.example> ORCPT=victim@else.example',
])('%j is no address that mails are sent to', async (address) => {
  expect(await add(anAccount(), address)).toEqual(
    invalid({ address: ['The address must be a valid email address.'] }),
  );
});

test('kinds are chosen from those there are, and changed for later events', async () => {
  const recipient = await aRecipient();
  expect((await recipient.shown()).kinds).toEqual([
    'paid',
    'paid_late',
    'paid_short',
    'payout_failed',
    'webhook_failing',
  ]);
  const change = (kinds: unknown) => call('PATCH', recipient.path, recipient.account, { kinds });
  expect(await change(['sold'])).toEqual(invalid({ 'kinds.0': ['The selected kinds.0 is invalid.'] }));
  expect(await change([])).toEqual(invalid({ kinds: ['The kinds must have at least 1 items.'] }));
  expect(await change(['paid_late'])).toMatchObject({
    status: 200,
    body: { data: { kinds: ['paid_late'] } },
  });
  await happened(recipient.account, 'invoice.paid');
  await happened(recipient.account, 'invoice.late_payment');
  await send();
  expect(recipient.subjects()).toEqual(['Paid late: 10.00 USD']);
});

test('another account neither sees nor changes a recipient', async () => {
  const { path, id, shown } = await aRecipient();
  const before = await shown();
  const stranger = anAccount();
  const asked: [string, string, unknown?][] = [
    ['GET', path],
    ['PATCH', path, { kinds: ['paid'] }],
    ['DELETE', path],
    ['POST', `${path}/code`],
    ['POST', `${path}/confirm`, { code: 'x' }],
    ['POST', `${path}/test`],
  ];
  for (const [method, at, body] of asked) expect(await call(method, at, stranger, body)).toEqual(forbidden);
  expect(JSON.stringify((await call('GET', '/api/mail-recipients', stranger)).body)).not.toContain(id);
  expect(await shown()).toEqual(before);
});

test('a test mail goes to a confirmed address, once a minute', async () => {
  const fresh = await unconfirmed();
  expect(await call('POST', `${fresh.path}/test`, fresh.account)).toEqual(conflict(/confirm it first/));
  const recipient = await aRecipient();
  expect((await recipient.post('/test')).status).toBe(202);
  expect(await recipient.post('/test')).toEqual(conflict(/less than a minute ago/));
  await send();
  expect(recipient.subjects()).toEqual(['This is a test']);
});

test('a removed recipient is sent nothing that waited', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'invoice.paid');
  expect((await call('DELETE', recipient.path, recipient.account)).status).toBe(200);
  expect(await send()).toBe(0);
  expect((await call('GET', recipient.path, recipient.account)).status).toBe(404);
});

/** As a mail program or a browser asks, without a session. */
const open = (url: string, init: RequestInit = {}) =>
  fetch(url.replace('http://quittance.test', `http://127.0.0.1:${port}`), init);
const stopLink = (mail: { header(name: string): string | undefined } | undefined): string =>
  mail?.header('List-Unsubscribe')?.replace(/^<|>$/g, '') ?? '';

test('a recipient stops the mails by one click of its mail program, without a session', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'invoice.paid');
  await send();
  await happened(recipient.account, 'invoice.paid');
  const [mail] = recipient.mails();
  expect(mail?.header('List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click');
  expect(stopLink(mail)).toMatch(/^http:\/\/quittance\.test\/unsubscribe\/[\w-]{32}$/);
  expect(mail?.text).toContain(`Stop these e-mails:\n${stopLink(mail)}\n`);
  const answer = await open(stopLink(mail), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });
  expect(answer.status).toBe(200);
  expect(await recipient.shown()).toMatchObject({ status: 'unsubscribed' });
  await happened(recipient.account, 'invoice.paid');
  expect(await send()).toBe(0);
  expect(await recipient.post('/test')).toEqual(conflict(/confirm it first/));
  expect((await open(stopLink(mail), { method: 'POST' })).status).toBe(200);
});

test('opening the link changes nothing and shows a button, and who has stopped the mails can confirm again', async () => {
  const recipient = await aRecipient();
  await recipient.post('/test');
  await send();
  const link = stopLink(recipient.mails()[0]);
  const page = await open(link);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await page.text()).toContain('<form method="post">');
  expect(await recipient.shown()).toMatchObject({ status: 'active' });
  await open(link, { method: 'POST' });
  expect(await (await open(link)).text()).toContain('The e-mails are stopped');
  clock.advance(MINUTE);
  expect((await recipient.post('/code')).status).toBe(202);
  await send();
  const confirmed = await recipient.post('/confirm', { code: codeFor(recipient.address) });
  expect(confirmed.body.data.status).toBe('active');
});

test('a link that nobody has sent is answered with a page', async () => {
  for (const token of ['x'.repeat(32), 'short', '..%2f']) {
    const answer = await open(`http://quittance.test/unsubscribe/${token}`, { method: 'POST' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  }
});

test('the list tells whether the installation sends e-mail, and from where', async () => {
  const account = anAccount();
  expect((await call('GET', '/api/mail-recipients', account)).body).toEqual({
    data: [],
    meta: { sends_mail: true, writes_files: false, sender: 'payments@pay.example' },
  });
  const { path, account: owner } = await aRecipient();
  const served = await fixture.serve({}, { mailer: undefined } as unknown as Partial<Ports>);
  expect((await served.call('GET', '/api/mail-recipients', owner)).body.meta).toEqual({
    sends_mail: false,
    writes_files: false,
    sender: null,
  });
  const refused = conflict(/sends no e-mail\. Its operator has to set SMTP_URL and MAIL_FROM/);
  expect(await served.call('POST', '/api/mail-recipients', owner, { address: anAddress() })).toEqual(refused);
  expect(await served.call('POST', `${path}/test`, owner)).toEqual(refused);
});
