import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createMailer, type Mailer } from '../src/mailer.ts';
import { pruneOldMails } from '../src/operations/prune.ts';
import { sendMails } from '../src/operations/send-mails.ts';
import { readSmtpUrl, type SmtpServer } from '../src/smtp-url.ts';
import { daysAgo, HOUR, SECOND } from './fixture.ts';
import { aMail, MINUTE, mailerFor, openMailFixture, sender, smtpUrl } from './mail-fixture.ts';
import { startSmtpServer } from './smtp-server.ts';

const fixture = await openMailFixture();
const { aRecipient, anEndpoint, answerWith, authority, clock, codeFor, database, db, deliverAll, happened } =
  fixture;
const { ports, send, smtp, tcp } = fixture;

const greylisted = () => ({ code: 451, text: '4.7.1 Greylisted, try again' });
const unknownUser = () => ({ code: 550, text: '5.1.1 No such user' });

test('a mail that is greylisted is sent again later, as the same mail', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'invoice.paid');
  smtp.behave({ rcptTo: greylisted });
  expect(await send()).toBe(1);
  expect(await recipient.shown()).toMatchObject({
    status: 'active',
    last_failure: expect.stringMatching(/^451 4\.7\.1 Greylisted/),
    last_failed_at: clock.now().toISOString(),
  });
  smtp.behave({});
  clock.advance(59 * SECOND);
  expect(await send()).toBe(0);
  clock.advance(SECOND);
  expect(await send()).toBe(1);
  expect(recipient.mails()).toHaveLength(1);
});

test('a mail that is never taken is given up after nine attempts, and the next one is tried', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'invoice.paid');
  smtp.behave({ rcptTo: greylisted });
  let attempts = 0;
  for (let hours = 0; hours < 40; hours++) {
    attempts += await send();
    clock.advance(HOUR);
  }
  expect(attempts).toBe(9);
  expect(await recipient.shown()).toMatchObject({ status: 'active' });
  smtp.behave({});
  await happened(recipient.account, 'invoice.late_payment');
  await send();
  expect(recipient.subjects()).toEqual(['Paid late: 10.00 USD']);
});

test('an address that the mail server refuses is not tried again with the same mail, and five refusals in a row pause it', async () => {
  const recipient = await aRecipient();
  smtp.behave({ rcptTo: unknownUser });
  for (let i = 0; i < 5; i++) {
    expect(await recipient.shown()).toMatchObject({ status: 'active' });
    await happened(recipient.account, 'invoice.paid');
    expect(await send()).toBe(1);
    clock.advance(HOUR);
    expect(await send()).toBe(0);
  }
  expect(await recipient.shown()).toMatchObject({
    status: 'paused',
    paused_reason: 'The mail server refused 5 mails in a row.',
    last_failure: '550 5.1.1 No such user',
  });
  await happened(recipient.account, 'invoice.paid');
  expect(await send()).toBe(0);
  smtp.behave({});
  expect((await recipient.post('/code')).status).toBe(202);
  await send();
  expect((await recipient.post('/confirm', { code: codeFor(recipient.address) })).body.data).toMatchObject({
    ...{ status: 'active', paused_reason: null, last_failure: null },
  });
});

test('a mail that is taken ends the row of refusals', async () => {
  const recipient = await aRecipient();
  for (let i = 0; i < 8; i++) {
    smtp.behave(i === 4 ? {} : { data: () => ({ code: 554, text: '5.7.1 spam' }) });
    await happened(recipient.account, 'invoice.paid');
    await send();
  }
  expect(await recipient.shown()).toMatchObject({ status: 'active', last_failure: '554 5.7.1 spam' });
});

test('a failure that concerns the installation pauses nobody, and is shown without its details', async () => {
  const recipient = await aRecipient();
  smtp.behave({ mailFrom: () => ({ code: 550, text: '5.7.1 payments@pay.example may not send' }) });
  await happened(recipient.account, 'invoice.paid');
  await send();
  expect(await recipient.shown()).toMatchObject({
    status: 'active',
    last_failure: 'The mail server of this installation cannot be used at the moment.',
  });
  smtp.behave({});
  clock.advance(MINUTE);
  await send();
  expect(recipient.mails()).toHaveLength(1);
});

/** What comes of a mail that is sent by another mailer, and whether the server had it. */
async function sentBy(mailer: Mailer) {
  database.finally(async () => mailer.close());
  return await mailer.send(aMail);
}
const postponed = { kind: 'postponed', reason: expect.stringMatching(/cannot be used at the moment/) };

async function another(options: Parameters<typeof startSmtpServer>[0]) {
  const server = await startSmtpServer(options);
  database.finally(server.close);
  return server;
}

test('a server without TLS is sent nothing, neither a mail nor the password', async () => {
  const seen: string[] = [];
  const plain = await another({
    ...{ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, authOptional: true },
    onAuth: ({ password }, _session, done) => {
      seen.push(String(password));
      done(null, { user: 'x' });
    },
  });
  expect(await sentBy(mailerFor(smtpUrl('smtp', plain.port, authority.path)))).toEqual(postponed);
  expect([plain.mails, seen]).toEqual([[], []]);
});

test('a server on this machine is sent mails without TLS when no authority is named', async () => {
  const plain = await another({ disabledCommands: ['STARTTLS', 'AUTH'], authOptional: true });
  expect(await sentBy(mailerFor(`smtp://localhost:${plain.port}`))).toEqual({ kind: 'sent' });
  expect(plain.mails).toHaveLength(1);
});

test.each<[string, Partial<SmtpServer>, object]>([
  // Node does not trust the authority of the tests.
  ['is put off where the certificate is of another authority', { ca: undefined }, postponed],
  ['is put off where the certificate has another name', { host: '127.0.0.3' }, postponed],
  ['is put off where the password is wrong', { password: 'wrong' }, postponed],
  ['is sent by a server that is as SMTP_URL says', {}, { kind: 'sent' }],
])('a mail %s', async (_what, other, expected) => {
  const target = readSmtpUrl(smtpUrl('smtp', smtp.port, authority.path), false);
  if (target.kind !== 'smtp') throw new Error('an smtp URL');
  const server = { ...target.server, ...other };
  const mailer = createMailer({ target: { ...target, server }, from: sender, logger: ports.logger });
  expect(await sentBy(mailer)).toEqual(expected);
});

test('smtps:// is encrypted from the beginning', async () => {
  const secure = await another({ secure: true });
  expect(await sentBy(mailerFor(smtpUrl('smtps', secure.port, authority.path)))).toEqual({ kind: 'sent' });
  expect(secure.mails).toMatchObject([{ isEncrypted: true, user: 'shop@mail.test' }]);
});

test('a server that never answers, or slowly for ever, is left after a time limit', async () => {
  const silent = await tcp(() => undefined);
  expect(await sentBy(mailerFor(`smtp://localhost:${silent}`, { sendWithinMs: 200 }))).toEqual(postponed);
  // It takes the whole mail, and its answer goes on for ever.
  const dripping = await tcp((socket) => {
    socket.write('220 ready\r\n');
    let timer: NodeJS.Timeout | undefined;
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      if (text.endsWith('\r\n.\r\n')) timer = setInterval(() => socket.write('250-wait\r\n'), 20);
      else if (/^(?:EHLO|MAIL|RCPT)/m.test(text))
        socket.write('250 yes\r\n'.repeat(text.split('\r\n').length - 1));
      else if (/^DATA/m.test(text)) socket.write('354 go on\r\n');
    });
    socket.on('close', () => clearInterval(timer));
  });
  expect(await sentBy(mailerFor(`smtp://localhost:${dripping}`, { sendWithinMs: 1_000 }))).toEqual(postponed);
  const closed = await tcp((socket) => socket.end());
  expect(await sentBy(mailerFor(`smtp://localhost:${closed}`))).toEqual(postponed);
});

test('a process that stops ends the attempt in flight, and another sends the mail at once', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'invoice.paid');
  let connected: () => void = () => undefined;
  const isConnected = new Promise<void>((resolve) => {
    connected = resolve;
  });
  const hanging = mailerFor(`smtp://localhost:${await tcp(() => connected())}`);
  const sending = sendMails({ ...ports, mailer: hanging });
  await isConnected;
  hanging.close();
  expect(await sending).toBe(1);
  expect(await recipient.shown()).toMatchObject({ last_failure: null });
  expect(await send()).toBe(1);
  expect(recipient.mails()).toHaveLength(1);
});

test('an endpoint is told of when it has failed for half an hour, and when it is disabled, each once', async () => {
  const recipient = await aRecipient({ kinds: ['webhook_failing'] });
  const { key } = await anEndpoint(recipient.account, '/fails?token=of-the-shop', ['invoice.created']);
  answerWith(500);
  await happened(recipient.account, 'invoice.created');
  await deliverAll();
  await send();
  expect(recipient.mails()).toEqual([]);
  for (let i = 0; i < 4; i++) {
    clock.advance(40 * MINUTE);
    await happened(recipient.account, 'invoice.created');
    await deliverAll();
  }
  await send();
  expect(recipient.subjects()).toEqual(['A webhook endpoint fails']);
  expect(recipient.mails()[0]?.text).toMatch(/Description: 127\.0\.0\.1:\d+\n/);
  expect(recipient.mails()[0]?.raw).not.toContain('of-the-shop');

  for (let days = 0; days < 6; days++) {
    await happened(recipient.account, 'invoice.created');
    await fixture.lastAttemptIsDue(key);
    await deliverAll();
    clock.advance(24 * HOUR);
  }
  await send();
  expect(recipient.subjects()).toEqual(['A webhook endpoint fails', 'A webhook endpoint was disabled']);
  expect(recipient.mails()[1]?.text).toContain('Reason: No delivery has succeeded for 5 days.');
});

test('a mail is a file in the folder that SMTP_URL names', async () => {
  const folder = join(dirname(authority.path), 'mails');
  const mailer = mailerFor(`file://${folder}`);
  expect(await sentBy(mailer)).toEqual({ kind: 'sent' });
  expect(await sentBy(mailer)).toEqual({ kind: 'sent' });
  expect(await readdir(folder)).toEqual(['mail_1pay.example.eml']);
  expect(await readFile(join(folder, 'mail_1pay.example.eml'), 'utf8')).toMatch(
    /^To: till@shop\.example\r?$/m,
  );
});

test('mails and what they told are removed after 90 days, and waiting ones stay', async () => {
  const recipient = await aRecipient();
  await happened(recipient.account, 'invoice.paid');
  await send();
  await happened(recipient.account, 'invoice.late_payment');
  const countOf = async (table: string) =>
    (
      await db.one<{ count: number }>(
        `select count(*)::int from ${table} join mail_recipients r on r.key = recipient_key where r.id = $1`,
        [recipient.id],
      )
    ).count;
  expect([await countOf('mails'), await countOf('mail_notifications')]).toEqual([2, 2]);
  await db.rows(`update mails set created_at = $1`, [daysAgo(91)]);
  await pruneOldMails(ports);
  expect([await countOf('mails'), await countOf('mail_notifications')]).toEqual([0, 1]);
});
