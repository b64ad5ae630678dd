import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { SERVER_CERTIFICATE, SERVER_KEY } from './certificates.ts';

export const SMTP_USER = 'shop@mail.test';
export const SMTP_PASSWORD = 'p:ss/w@rd %';

/** A mail as the server took it: as it came, and its parts without their encoding. */
type ReceivedMail = ReturnType<typeof received>;

/** Says what the server answers at a step; undefined accepts. */
export type Behaviour = {
  mailFrom?: () => Answer;
  rcptTo?: (address: string) => Answer;
  data?: (mail: ReceivedMail) => Answer | Promise<Answer>;
};
type Answer = { code: number; text: string } | undefined;

const refusal = ({ code, text }: { code: number; text: string }): Error =>
  Object.assign(new Error(text), { responseCode: code });

const decoded = (body: string, encoding: string): string => {
  if (/base64/i.test(encoding)) return Buffer.from(body, 'base64').toString('utf8');
  if (!/quoted-printable/i.test(encoding)) return body;
  const bytes = body
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1'));
  return Buffer.from(bytes, 'latin1').toString('utf8');
};

const headersOf = (text: string): [string, string][] =>
  text
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]);

function partOf(raw: string, type: string): string {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? '';
  const part =
    raw.split(`--${boundary}`).find((one) => one.trimStart().startsWith(`Content-Type: ${type}`)) ?? '';
  const [head = '', ...body] = part.trimStart().split('\r\n\r\n');
  const encoding = headersOf(head).find(([name]) => name === 'content-transfer-encoding')?.[1] ?? '';
  return decoded(body.join('\r\n\r\n').replace(/\r\n$/, ''), encoding).replaceAll('\r\n', '\n');
}

function received(raw: string, session: { secure?: boolean; user?: unknown }, from: string, to: string[]) {
  const [head = ''] = raw.split('\r\n\r\n');
  const headers = headersOf(head);
  const header = (name: string) => headers.find(([one]) => one === name.toLowerCase())?.[1];
  return {
    ...{ from, to, raw, header, subject: header('Subject') ?? '' },
    ...{ text: partOf(raw, 'text/plain'), html: partOf(raw, 'text/html') },
    isEncrypted: session.secure === true,
    user: session.user as string | undefined,
  };
}

/**
 * A mail server on this machine that requires the sign-in of SMTP_USER, with a certificate of the authority of certificates.ts for localhost.
 * `behave` changes what it answers.
 */
export async function startSmtpServer(options: SMTPServerOptions = {}) {
  const mails: ReceivedMail[] = [];
  let behaviour: Behaviour = {};
  const answer = async (step: () => Answer | Promise<Answer>, done: (error?: Error | null) => void) => {
    const refused = await step();
    done(refused === undefined ? null : refusal(refused));
  };
  const server = new SMTPServer({
    cert: SERVER_CERTIFICATE,
    key: SERVER_KEY,
    closeTimeout: 50,
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      username === SMTP_USER && password === SMTP_PASSWORD
        ? done(null, { user: username })
        : done(refusal({ code: 535, text: `5.7.8 wrong password for ${username}` })),
    onMailFrom: (_address, _session, done) => void answer(() => behaviour.mailFrom?.(), done),
    onRcptTo: ({ address }, _session, done) => void answer(() => behaviour.rcptTo?.(address), done),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const mail = received(
          Buffer.concat(chunks).toString('utf8'),
          session as never,
          from,
          rcptTo.map((one) => one.address),
        );
        void answer(async () => {
          const refused = await behaviour.data?.(mail);
          if (refused === undefined) mails.push(mail);
          return refused;
        }, done);
      });
    },
    ...options,
  });
  // A client that breaks off a handshake is what some tests are about.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    /** In the order in which they were taken. */
    mails,
    mailsTo: (address: string) => mails.filter(({ to }) => to.includes(address)),
    behave(given: Behaviour): void {
      behaviour = given;
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
