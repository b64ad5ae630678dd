import { expect, test } from '@jest/globals';
import { createLogger } from '@quittance/shared/logger';
import { patient } from '@quittance/testkit/patience';
import { claimMail } from '../src/operations/send-mails.ts';
import { anAccount, conflict, DAY, HOUR } from './fixture.ts';
import { aMail, anAddress, MINUTE, mailerFor, openMailFixture, smtpUrl } from './mail-fixture.ts';
import { SMTP_PASSWORD, SMTP_USER } from './smtp-server.ts';

const fixture = await openMailFixture();
const { aRecipient, add, call, clock, codeFor, db, happened, ports, send, smtp, stopUrlFor, tcp } = fixture;

/** The recipient of the last mail to an address stops the mails. */
const stop = async (address: string) => (await fetch(stopUrlFor(address), { method: 'POST' })).status;
const stopped = conflict(/has stopped these e-mails/);

test('many accounts that add an address at the same moment have one code sent to it', async () => {
  const address = anAddress();
  const made = await Promise.all(Array.from({ length: 8 }, () => add(anAccount(), address)));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(made.filter(({ status }) => status === 409)).toHaveLength(7);
  await send();
  expect(smtp.mailsTo(address)).toHaveLength(1);
});

test('a stranger who stops the mails with a code is sent no more of them for 30 days by that account', async () => {
  const [account, address] = [anAccount(), anAddress()];
  const { id } = (await add(account, address)).body.data;
  await send();
  const code = codeFor(address);
  expect(await stop(address)).toBe(200);
  const path = `/api/mail-recipients/${id}`;
  expect((await call('POST', `${path}/confirm`, account, { code })).status).toBe(422);
  clock.advance(MINUTE);
  expect(await call('POST', `${path}/code`, account)).toEqual(stopped);
  expect((await call('DELETE', path, account)).status).toBe(200);
  expect(await add(account, address.toUpperCase())).toEqual(stopped);
  await send();
  expect(smtp.mailsTo(address)).toHaveLength(1);
  expect((await add(anAccount(), address)).status).toBe(201);
  clock.advance(30 * DAY + MINUTE);
  expect((await add(account, address)).status).toBe(201);
});

test('who has stopped the mails before, and is sent a code unasked, stops that too', async () => {
  const recipient = await aRecipient();
  expect(await stop(recipient.address)).toBe(200);
  clock.advance(MINUTE);
  expect((await recipient.post('/code')).status).toBe(202);
  await send();
  const code = codeFor(recipient.address);
  const page = await fetch(stopUrlFor(recipient.address));
  expect(await page.text()).toContain('<form method="post">');
  expect(await stop(recipient.address)).toBe(200);
  expect((await recipient.post('/confirm', { code })).status).toBe(422);
  clock.advance(MINUTE);
  expect(await recipient.post('/code')).toEqual(stopped);
});

test('a mail server that repeats the password has it neither in the log nor in what merchants read', async () => {
  const signIn = Buffer.from(`\0${SMTP_USER}\0${SMTP_PASSWORD}`).toString('base64');
  const secrets = [SMTP_PASSWORD, signIn, Buffer.from(SMTP_PASSWORD).toString('base64')];
  for (const at of ['AUTH', 'RCPT']) {
    const smtpPort = await tcp((socket) => {
      socket.write('220 test\r\n');
      socket.on('data', (data) => {
        const line = data.toString();
        if (line.startsWith('EHLO')) socket.write('250-test\r\n250 AUTH PLAIN\r\n');
        else if (line.startsWith(at)) socket.write(`535 not with ${secrets.join(' or ')}\r\n`);
        else socket.write(line.startsWith('AUTH') ? '235 in\r\n' : '250 so\r\n');
      });
    });
    const logged: string[] = [];
    const logger = createLogger('webhooks', 'info', { write: (line) => void logged.push(line) });
    const result = await mailerFor(smtpUrl('smtp', smtpPort), { logger }).send(aMail);
    const told = JSON.stringify([logged, result]);
    expect(told).toContain('not with [redacted] or [redacted] or [redacted]');
    for (const secret of secrets) expect(told).not.toContain(secret);
  }
});

test('a mail that cannot be made is put off, and holds up no other recipient', async () => {
  const [first, second] = [await aRecipient(), await aRecipient()];
  await happened(first.account, 'invoice.paid');
  const becomes = (type: string) =>
    db.rows(
      `update mail_notifications set facts = facts || jsonb_build_object('type', $2::text)
       where recipient_key = (select key from mail_recipients where id = $1)`,
      [first.id, type],
    );
  await becomes('of_a_newer_release');
  clock.advance(MINUTE);
  await happened(second.account, 'invoice.paid');
  expect(await send()).toBe(1);
  expect(second.mails()).toHaveLength(1);
  await becomes('invoice_paid');
  clock.advance(MINUTE);
  expect(await send()).toBe(1);
  expect(first.mails()).toHaveLength(1);
});

const SUMMED_UP_MAX = 50_000;

test('a summary holds up the events of its account for a moment only, however many it has', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'invoice.paid');
  expect(await send()).toBe(1);
  await db.rows(
    `insert into mail_notifications (recipient_key, event_key, kind, topic, happened_at, facts)
     select key, 'evt_' || n, 'paid', 'sales', $2::timestamptz + n * interval '1 ms',
       '{"type":"invoice_paid","asset":"ETH","amount":"0.5","price":"10.00","currency":"EUR"}'
     from mail_recipients, generate_series(1, $3::int) n where id = $1`,
    [recipient.id, clock.now(), SUMMED_UP_MAX + 5],
  );
  clock.advance(HOUR);
  await happened(recipient.account, 'invoice.paid');
  const before = performance.now();
  const claimed = await claimMail(ports);
  expect(performance.now() - before).toBeLessThan(patient(4_000));
  expect(claimed).toMatchObject({
    text: { subject: `${SUMMED_UP_MAX} invoices paid`, text: expect.stringContaining('25000 ETH') },
  });
  clock.advance(2 * HOUR);
  await send();
  clock.advance(HOUR);
  await send();
  expect(recipient.subjects().slice(1)).toEqual(expect.arrayContaining([`${SUMMED_UP_MAX} invoices paid`]));
  const waiting = await db.one<{ count: number }>(
    `select count(*)::int from mail_notifications n join mail_recipients r on r.key = recipient_key where r.id = $1 and mail_key is null`,
    [recipient.id],
  );
  expect(waiting.count).toBe(0);
});
