import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { certificateOf, tlsServerOf, type WantedTls } from '@quittance/shared/certificate-problem';
import { bad, type Finding, ok, type State, why } from './finding.ts';

const DAY_MS = 24 * 3_600_000;
const WARNED_DAYS = 30;

/** A connection that a setting asks for, as it stands there. */
export type Connection = { setting: string; subject: string; url: string };

const LOOPBACK = /^(?:localhost|127\.|\[::1\]$)/;

/** Expiry, authority and name of the certificates that services verify, and where a password travels without any. */
export async function checkCertificates(connections: readonly Connection[], now: Date): Promise<Finding[]> {
  const files = new Map<string, Connection>();
  const found = await Promise.all(
    connections.map(async (connection) => {
      const wanted = tlsServerOf(connection.url);
      if (wanted === undefined) return withoutTls(connection);
      if (wanted.file !== undefined) files.set(wanted.file, connection);
      return [await checkServer(connection, wanted, now)];
    }),
  );
  return [
    ...found.flat(),
    ...[...files].map(([file, connection]) => checkAuthorities(file, connection, now)),
  ];
}

const withoutTls = ({ setting, subject, url }: Connection): Finding[] =>
  LOOPBACK.test(new URL(url).hostname)
    ? []
    : [
        bad(
          'warning',
          'certificate',
          subject,
          'the connection is not encrypted',
          `Encrypt it unless it stays on one machine: ${setting}, see "Connections to the engines" in docs/configure.md.`,
        ),
      ];

async function checkServer({ setting, subject }: Connection, wanted: WantedTls, now: Date): Promise<Finding> {
  try {
    const { validTo, refusal } = await certificateOf(wanted);
    const renew = `Renew the certificate of ${wanted.server.host}.`;
    const finding = expiryFinding(subject, validTo, now, renew);
    if (finding.state === 'problem' || refusal === undefined) return finding;
    const remedy = `Correct the certificate, or ${setting}: no service connects with it.`;
    return bad('problem', 'certificate', subject, `it is not accepted (${refusal})`, remedy);
  } catch (error) {
    return bad('problem', 'certificate', subject, why(error), `Look at the server, or correct ${setting}.`);
  }
}

function checkAuthorities(file: string, { setting }: Connection, now: Date): Finding {
  const subject = `authorities in ${file}`;
  try {
    const blocks = readFileSync(file, 'utf8').match(
      /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g,
    );
    const ends = (blocks ?? []).map((block) => new X509Certificate(block).validToDate.getTime());
    if (ends.length === 0) throw new Error('it has no certificate');
    return expiryFinding(
      subject,
      new Date(Math.min(...ends)),
      now,
      'Make new certificates and restart what has them.',
    );
  } catch (error) {
    return bad('problem', 'certificate', subject, why(error), `Correct sslrootcert in ${setting}.`);
  }
}

function expiryFinding(subject: string, end: Date | undefined, now: Date, remedy: string): Finding {
  if (end === undefined) return bad('problem', 'certificate', subject, 'the server shows none', remedy);
  const day = end.toISOString().slice(0, 10);
  const days = Math.floor((end.getTime() - now.getTime()) / DAY_MS);
  if (days >= WARNED_DAYS) return ok('certificate', subject, `valid until ${day}`);
  const state: Exclude<State, 'ok'> = end <= now ? 'problem' : 'warning';
  return bad(state, 'certificate', subject, end <= now ? `expired on ${day}` : `expires on ${day}`, remedy);
}
