import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { localPort } from '@quittance/testkit/local-port';
import type { MailKind } from '../src/domain/mail-notification.ts';
import { createMailer } from '../src/mailer.ts';
import type { MerchantEvent } from '../src/operations/events.ts';
import { sendMails } from '../src/operations/send-mails.ts';
import type { Ports } from '../src/ports.ts';
import { readSmtpUrl } from '../src/smtp-url.ts';
import { CA } from './certificates.ts';
import { anAccount, anEvent, openFixture } from './fixture.ts';
import { SMTP_PASSWORD, SMTP_USER, startSmtpServer } from './smtp-server.ts';

export const MINUTE = 60_000;
export const sender = { name: 'Example Payments', address: 'payments@pay.example' };
const silent = createLogger('webhooks', 'silent');

/** A file with the certificate of the authority of the tests' mail servers. */
function authorityFile() {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-mail-'));
  const path = join(folder, 'ca.crt');
  writeFileSync(path, CA);
  return { path, remove: () => rmSync(folder, { recursive: true }) };
}

export const smtpUrl = (scheme: 'smtp' | 'smtps', port: number, authorities?: string): string =>
  `${scheme}://${encodeURIComponent(SMTP_USER)}:${encodeURIComponent(SMTP_PASSWORD)}@localhost:${port}${authorities === undefined ? '' : `?sslrootcert=${authorities}`}`;

export const mailerFor = (url: string, own: Partial<Parameters<typeof createMailer>[0]> = {}) =>
  createMailer({ target: readSmtpUrl(url, false), from: sender, logger: silent, ...own });

/** A mail that a test hands to a mailer. */
export const aMail = {
  ...{ messageId: 'mail_1@pay.example', to: 'till@shop.example', subject: 'x', text: 'x', html: 'x' },
  stopUrl: 'http://quittance.test/unsubscribe/x',
};

export const anAddress = (): string => `till-${randomBytes(6).toString('hex')}@shop.example`;

/** An invoice as its events show it. */
export const anInvoiceView = (given: Record<string, unknown> = {}) => ({
  ...{ id: 'inv_1', amount: '0.004', paid_amount: '0.004', amount_fiat: '10.00', currency: 'USD' },
  ...{ description: 'Two cups', asset: { symbol: 'ETH' }, metadata: { customer: 'secret of a customer' } },
  ...given,
});

type Wanted = { account?: AccountId; kinds?: readonly MailKind[] };

/** The fixture of webhooks with a mail server, to which mails are sent by STARTTLS and a password. */
export async function openMailFixture() {
  const authority = authorityFile();
  const smtp = await startSmtpServer();
  const mailer = mailerFor(smtpUrl('smtp', smtp.port, authority.path));
  const fixture = await openFixture({ mailer });
  fixture.database.finally(async () => {
    mailer.close();
    await smtp.close();
    authority.remove();
  });
  afterEach(() => smtp.behave({}));
  const { ports, call, clock } = fixture;

  /** Sends until nothing is due. @returns how many attempts there were */
  async function send(own: Partial<Ports> = {}): Promise<number> {
    let all = 0;
    for (;;) {
      const sent = await sendMails({ ...ports, ...own });
      if (sent === 0) return all;
      all += sent;
    }
  }

  const add = (account: AccountId, address: string, kinds?: readonly MailKind[]) =>
    call('POST', '/api/mail-recipients', account, { address, ...(kinds && { kinds }) });

  /** The code in the last mail to an address. */
  function codeFor(address: string): string {
    const code = /^Code: (\S+)$/m.exec(smtp.mailsTo(address).at(-1)?.text ?? '')?.[1];
    if (code === undefined) throw new Error(`no code was sent to ${address}`);
    return code;
  }

  /** Where the last mail to an address is answered that tells how the mails are stopped. */
  const stopUrlFor = (address: string): string =>
    /Stop these e-mails:\n(\S+)/
      .exec(smtp.mailsTo(address).at(-1)?.text ?? '')?.[1]
      ?.replace('http://quittance.test', `http://127.0.0.1:${fixture.port}`) ?? '';

  /** A server that takes connections and does with them what a test says. @returns its port */
  async function tcp(onSocket: (socket: Socket) => void): Promise<number> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      onSocket(socket);
    });
    const port = await localPort(server);
    fixture.database.finally(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return port;
  }

  /** A confirmed recipient. Mails before are not counted. */
  async function aRecipient({ account = anAccount(), kinds }: Wanted = {}) {
    const address = anAddress();
    const made = await add(account, address, kinds);
    if (made.status !== 201) throw new Error(`the recipient was not added: ${JSON.stringify(made.body)}`);
    const path = `/api/mail-recipients/${made.body.data.id}`;
    await send();
    const confirmed = await call('POST', `${path}/confirm`, account, { code: codeFor(address) });
    if (confirmed.status !== 200) throw new Error(`not confirmed: ${JSON.stringify(confirmed.body)}`);
    const before = smtp.mailsTo(address).length;
    const mails = () => smtp.mailsTo(address).slice(before);
    return {
      ...{ account, address, path, id: String(made.body.data.id), mails },
      subjects: () => mails().map(({ subject }) => subject),
      shown: async () => (await call('GET', path, account)).body,
      post: (below: string, body?: unknown) => call('POST', `${path}${below}`, account, body),
    };
  }

  /** An event of an account, as the consumer records it. */
  const happened = (
    account: AccountId,
    kind: MerchantEvent['kind'],
    data: Record<string, unknown> = anInvoiceView(),
  ) => fixture.receive(anEvent({ account, data, at: clock.now(), kind }));

  return { ...fixture, smtp, mailer, authority, send, add, codeFor, stopUrlFor, tcp, aRecipient, happened };
}
