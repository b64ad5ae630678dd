import { readFileSync } from 'node:fs';
import { remembered } from './clock.ts';
import { codeOf, reason } from './logger.ts';
import { type PeerCertificate, peerCertificate, type TlsServer } from './peer-certificate.ts';

/** The server that a URL leads to, and the file with the authorities that it is verified by. */
export type WantedTls = { server: TlsServer; file: string | undefined };

/** Of a server that cannot be reached, and is tried several times a second. */
const LOOKED_AT_EVERY_MS = 5_000;

const PORTS: Readonly<Record<string, { port: number; begins: TlsServer['begins'] }>> = {
  'postgres:': { port: 5432, begins: 'as Postgres' },
  'postgresql:': { port: 5432, begins: 'as Postgres' },
  'tls:': { port: 4222, begins: 'as NATS' },
  'rediss:': { port: 6379, begins: 'at once' },
  'https:': { port: 443, begins: 'at once' },
};

/** Undefined where the URL asks for no TLS. */
export function tlsServerOf(text: string): WantedTls | undefined {
  const url = new URL(text);
  const known = PORTS[url.protocol];
  const mode = url.searchParams.get('sslmode');
  const file = url.searchParams.get('sslrootcert') ?? undefined;
  const isPlain =
    known?.begins === 'as Postgres' && file === undefined && (mode === null || mode === 'disable');
  if (known === undefined || isPlain) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // eslint-disable-next-line no-restricted-syntax -- a port
  const port = url.port === '' ? known.port : Number(url.port);
  return { server: { host, port, begins: known.begins }, file };
}

/** What Node calls a certificate that it does not accept: nothing was sent to that server. */
const REFUSED =
  /^(?:CERT_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET_ISSUER)|ERR_TLS_CERT_ALTNAME_INVALID)/;

export const isCertificateRefused = (error: unknown): boolean => REFUSED.test(codeOf(error) ?? '');

/** The certificate of a server, verified by the authorities of the file. Throws when there is no TLS, or the file cannot be read. */
export async function certificateOf({ server, file }: WantedTls): Promise<PeerCertificate> {
  const authorities = file === undefined ? undefined : readFileSync(file, 'utf8');
  return await peerCertificate({ ...server, authorities });
}

/**
 * Names the certificate of a URL's server when it is not accepted, with the day on which it has expired or the reason: the
 * errors of drivers say no more than that one has expired. Undefined where it is accepted, or no TLS is asked for. Throws when
 * the server does not show one.
 *
 * @param why a longer reason than its own, where one is known
 */
async function refusedCertificate(url: string, now: Date, why?: string): Promise<string | undefined> {
  const wanted = tlsServerOf(url);
  if (wanted === undefined) return undefined;
  const { server } = wanted;
  const { subject, validTo, refusal } = await certificateOf(wanted);
  const named = `the certificate of ${server.host}:${server.port}${subject === '' ? '' : ` (${subject})`}`;
  if (validTo !== undefined && validTo <= now)
    return `${named} expired on ${validTo.toISOString().slice(0, 10)}: renew it, and restart its server`;
  if (refusal === undefined) return undefined;
  return `${named} is not accepted (${why ?? refusal}): correct it, or the authorities in sslrootcert`;
}

/** Why a certificate was refused with this error, in the words of `refusedCertificate` where they can be had. */
export async function certificateProblem(url: string, error: unknown, now: Date): Promise<string> {
  try {
    // The error of a driver says which names the certificate has, where it has another one.
    return (await refusedCertificate(url, now, reason(error))) ?? reason(error);
  } catch (failure) {
    return `${reason(error)}; its certificate cannot be looked at: ${reason(failure)}`;
  }
}

/**
 * Looks at the certificate of a server that a driver fails to connect to, which does not say why, and tells the problem that it
 * finds. Call it at each failure: it looks every five seconds at most.
 */
export function certificateLook(url: string, tell: (problem: string) => void): () => void {
  const look = remembered(async () => {
    // A server that shows no certificate is away, as who calls this has said.
    const problem = await refusedCertificate(url, new Date()).catch(() => undefined);
    if (problem !== undefined) tell(problem);
  }, LOOKED_AT_EVERY_MS);
  return () => void look();
}
