import { expect, test } from '@jest/globals';
import { configSchema } from './config.ts';
import { readSender } from './domain/mail-address.ts';
import { problemOfSmtpUrl, readSmtpUrl } from './smtp-url.ts';

test.each([
  ['smtps://user:p%40ss@smtp.example.com', false, 'tls', 465],
  ['smtp://user:p%40ss@smtp.example.com', false, 'starttls', 587],
  ['smtp://user:p%40ss@10.0.0.7:25', false, 'starttls', 25],
  ['smtp://user:p%40ss@mailpit:1025', false, 'starttls', 1_025],
  ['smtp://user:p%40ss@localhost.example.com', false, 'starttls', 587],
  ['smtp://user:p%40ss@localhost:25', false, 'none', 25],
  ['smtp://user:p%40ss@[::1]', false, 'none', 587],
  ['smtp://user:p%40ss@mailpit:1025', true, 'none', 1_025],
  ['smtps://user:p%40ss@localhost', true, 'tls', 465],
])('%s, insecure allowed: %p, is %s on port %i', (url, allowInsecure, encryption, port) => {
  expect(problemOfSmtpUrl(url)).toBeUndefined();
  expect(readSmtpUrl(url, allowInsecure)).toMatchObject({
    kind: 'smtp',
    server: { encryption, port, user: 'user', password: 'p@ss' },
  });
});

test.each([
  'smtp.example.com',
  'http://smtp.example.com',
  'smtp://',
  'smtp://host/path',
  'smtp://host?ignoreTLS=true',
  'smtp://us%er:secret@host',
  'file://host/folder',
])('%s is no SMTP_URL, and the problem repeats nothing of it', (url) => {
  expect(problemOfSmtpUrl(url)).toMatch(/^(?:must|knows)/);
  expect(problemOfSmtpUrl(url)).not.toMatch(/secret|example/);
});

test('file: names a folder', () => {
  expect(readSmtpUrl('file:///var/tmp/a%20b', false)).toEqual({ kind: 'folder', path: '/var/tmp/a b' });
});

test.each([
  ['payments@pay.example', { name: '', address: 'payments@pay.example' }],
  ['My Shop <payments@pay.example>', { name: 'My Shop', address: 'payments@pay.example' }],
  ['My Shop', undefined],
  ['a@b.example, c@d.example', undefined],
  ['x\r\nBcc: y <a@b.example>', undefined],
])('%j is read as the sender %j', (text, sender) => {
  expect(readSender(text)).toEqual(sender);
});

const settings = {
  PORT: '8404',
  DATABASE_URL: 'postgres://a:b@localhost/c',
  NATS_URL: 'nats://localhost',
  PUBLIC_URL: 'https://pay.example',
  GATEWAY_PUBLIC_KEY: `gwpk_${'A'.repeat(43)}`,
  WEBHOOK_SECRETS_KEY: 'x'.repeat(32),
};
const problems = (more: object) =>
  configSchema
    .safeParse({ ...settings, ...more })
    .error?.issues.map(({ path, message }) => `${path.join()}: ${message}`);

test('SMTP_URL and MAIL_FROM go together, and both may be missing', () => {
  expect(problems({})).toBeUndefined();
  expect(problems({ SMTP_URL: 'smtps://smtp.example.com' })).toEqual([
    'MAIL_FROM: is required: SMTP_URL and MAIL_FROM go together',
  ]);
  expect(problems({ MAIL_FROM: 'payments@pay.example' })).toEqual([
    'SMTP_URL: is required: SMTP_URL and MAIL_FROM go together',
  ]);
  expect(
    problems({ SMTP_URL: 'smtps://smtp.example.com', MAIL_FROM: 'payments@pay.example' }),
  ).toBeUndefined();
});
