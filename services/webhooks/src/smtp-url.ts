import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where mails are handed over. `encryption`: TLS from the beginning, STARTTLS without which nothing is sent, or none. */
export type SmtpServer = {
  host: string;
  port: number;
  encryption: 'tls' | 'starttls' | 'none';
  user: string;
  password: string;
  /** The certificates of the authorities that sign the server's; undefined: those that Node trusts. */
  ca: string | undefined;
};

export type MailTarget = { kind: 'smtp'; server: SmtpServer } | { kind: 'folder'; path: string };

const SUBMISSION_PORT = 587;
const SUBMISSIONS_PORT = 465;
/** As NATS, Redis and Postgres name it. */
const AUTHORITIES = 'sslrootcert';
const local: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** What is wrong with a value of SMTP_URL, or undefined. No part of it is repeated: it has a password. */
export function problemOfSmtpUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'file:') return url.host === '' ? undefined : 'must be file:///folder';
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    return 'must be an smtp:// or smtps:// URL';
  if ([...url.searchParams.keys()].some((name) => name !== AUTHORITIES))
    return `knows no parameter but ${AUTHORITIES}`;
  if (!/^\/?$/.test(url.pathname) || url.hash !== '') return 'must have nothing after the host and the port';
  try {
    decodeURIComponent(url.username + url.password);
    return undefined;
  } catch {
    return 'must have its user and password percent-encoded';
  }
}

/**
 * Reads a value of SMTP_URL that has no problem. Throws when the file of the authorities cannot be read.
 *
 * | URL | encryption |
 * |---|---|
 * | `smtps://` | TLS from the beginning |
 * | `smtp://` | STARTTLS, without which nothing is sent |
 * | `smtp://` to this machine without `sslrootcert`, or where `allowInsecure` | none |
 */
export function readSmtpUrl(text: string, allowInsecure: boolean): MailTarget {
  const url = new URL(text);
  if (url.protocol === 'file:') return { kind: 'folder', path: fileURLToPath(url) };
  const file = url.searchParams.get(AUTHORITIES);
  const isPlain = file === null && (allowInsecure || local.has(url.hostname));
  const encryption = url.protocol === 'smtps:' ? 'tls' : isPlain ? 'none' : 'starttls';
  const usual = encryption === 'tls' ? SUBMISSIONS_PORT : SUBMISSION_PORT;
  return {
    kind: 'smtp',
    server: {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      // eslint-disable-next-line no-restricted-syntax -- a port
      port: url.port === '' ? usual : Number(url.port),
      encryption,
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      ca: file === null ? undefined : readFileSync(file, 'utf8'),
    },
  };
}
