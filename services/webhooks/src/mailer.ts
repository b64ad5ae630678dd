import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, reason, throttledLog } from '@quittance/shared/logger';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { MailSender } from './domain/mail-address.ts';
import { oneLine } from './domain/mail-notification.ts';
import type { MailResult } from './domain/mail-schedule.ts';
import type { MailText } from './mail-text.ts';
import type { MailTarget, SmtpServer } from './smtp-url.ts';

/** A mail as it goes out. */
export type OutgoingMail = MailText & {
  /** Without the angle brackets; the same at each attempt. */
  messageId: string;
  to: string;
  /** The page that stops the mails, and takes a POST for it (RFC 8058). */
  stopUrl: string;
};

/** Hands mails to the mail server of the installation. */
export type Mailer = {
  /** What recipients see as the sender. */
  from: MailSender;
  /** Of a sandbox: mails are written to files, and sent to nobody. */
  writesFiles: boolean;
  send(mail: OutgoingMail): Promise<MailResult>;
  /** Ends attempts in flight, each as `stopped`. */
  close(): void;
};

/** An attempt takes no longer, however slowly the server answers. A claim lasts longer than this. */
export const SEND_WITHIN_MS = 30_000;
const CONNECT_WITHIN_MS = 10_000;
const SILENCE_MS = 20_000;
const RESPONSE_BYTES_MAX = 65_536;

/** What recipients are told where the server has said nothing of them: the log of the operator has the details. */
const UNREACHABLE = 'The mail server of this installation cannot be used at the moment.';

type SmtpError = { responseCode?: unknown; response?: unknown; command?: unknown };

/**
 * A 5xx answer about the recipient or the content is final. All else may pass, and concerns the installation: the sender, the
 * sign-in, TLS or the connection.
 */
function resultOf(error: SmtpError, to: string, hide: Hide): MailResult {
  const { responseCode: code, response, command } = error;
  const concernsMail = command === 'RCPT TO' || command === 'DATA';
  if (!concernsMail || typeof code !== 'number' || typeof response !== 'string')
    return { kind: 'postponed', reason: UNREACHABLE };
  const said = oneLine(hide(response).replace(new RegExp(RegExp.escape(to), 'gi'), 'the address'));
  return code >= 500 ? { kind: 'refused', reason: said } : { kind: 'postponed', reason: said };
}

type Hide = (text: string) => string;

/** Leaves the password out of what a mail server has answered: some repeat the sign-in that they refuse. */
function hidePassword(target: MailTarget): Hide {
  if (target.kind === 'folder' || target.server.password === '') return (text) => text;
  const { user, password } = target.server;
  const forms = [`\0${user}\0${password}`, password].map((form) => Buffer.from(form).toString('base64'));
  return (text) => [...forms, password].reduce((rest, form) => rest.replaceAll(form, '[redacted]'), text);
}

export type MailerOptions = {
  target: MailTarget;
  from: MailSender;
  logger: Logger;
  /** How long an attempt may take. */
  sendWithinMs?: number;
};

export function createMailer({ target, from, logger, sendWithinMs = SEND_WITHIN_MS }: MailerOptions): Mailer {
  const closing = new AbortController();
  const failures = throttledLog(logger);
  const hide = hidePassword(target);
  const deliver = target.kind === 'smtp' ? overSmtp(target.server) : intoFolder(target.path);

  return {
    from,
    writesFiles: target.kind === 'folder',
    async send(mail) {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(sendWithinMs)]);
      try {
        await deliver(messageOf(mail, from), signal);
        failures.ended('mail', {}, 'the mail server takes mails again');
        return { kind: 'sent' };
      } catch (error) {
        if (closing.signal.aborted) return { kind: 'stopped' };
        const result = resultOf(error as SmtpError, mail.to, hide);
        if (result.kind === 'postponed' && result.reason === UNREACHABLE)
          failures.log(
            'error',
            'mail',
            { reason: hide(reason(error)) },
            'a mail could not be handed to SMTP_URL',
          );
        return result;
      }
    },
    close: () => closing.abort(),
  };
}

/** Header values are encoded by nodemailer, and the envelope is given, so that no address is read from a text. */
const messageOf = (mail: OutgoingMail, from: MailSender): SendMailOptions => ({
  from,
  to: { name: '', address: mail.to },
  envelope: { from: from.address, to: [mail.to] },
  messageId: `<${mail.messageId}>`,
  subject: mail.subject,
  text: mail.text,
  html: mail.html,
  headers: {
    'List-Unsubscribe': `<${mail.stopUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    // No answer of a machine is wanted (RFC 3834).
    'Auto-Submitted': 'auto-generated',
  },
  disableFileAccess: true,
  disableUrlAccess: true,
});

type Deliver = (message: SendMailOptions, signal: AbortSignal) => Promise<void>;

function overSmtp({ host, port, encryption, user, password, ca }: SmtpServer): Deliver {
  const transport = createTransport({
    host,
    port,
    secure: encryption === 'tls',
    requireTLS: encryption === 'starttls',
    ignoreTLS: encryption === 'none',
    tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
    ...(user === '' ? {} : { auth: { user, pass: password }, forceAuth: true }),
    connectionTimeout: CONNECT_WITHIN_MS,
    greetingTimeout: CONNECT_WITHIN_MS,
    dnsTimeout: CONNECT_WITHIN_MS,
    socketTimeout: SILENCE_MS,
    maxResponseSize: RESPONSE_BYTES_MAX,
  });
  return async (message, signal) => {
    await transport.sendMail({ ...message, signal });
  };
}

/** For the sandbox: a file for each mail, which mail programs open. */
function intoFolder(folder: string): Deliver {
  const transport = createTransport({ streamTransport: true, buffer: true });
  return async (message) => {
    const { message: bytes, messageId } = await transport.sendMail(message);
    await mkdir(folder, { recursive: true });
    // A reader finds the whole file or none. A mail that is sent again replaces itself.
    const name = messageId.replace(/[^\w.-]/g, '');
    const path = join(folder, `${name}.eml`);
    await writeFile(`${path}.part`, bytes);
    await rename(`${path}.part`, path);
  };
}
