import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

/** The parameter of a URL that names a file with the certificates of authorities, as Postgres calls it. */
const AUTHORITIES = 'sslrootcert';

/** As Node's `tls.connect` takes it. An address has no server name, and is verified all the same. */
type TlsOptions = { host: string; servername?: string; ca?: string };

/**
 * The URL of NATS or Redis as their drivers take it, and how its certificate is verified: by the authorities in the file that
 * `?sslrootcert=` names, otherwise by those that Node trusts, and by the name of the host. `tls` is undefined where the scheme
 * asks for none. The driver of Postgres reads the same parameter itself. Throws when the file cannot be read.
 */
export function readTlsUrl(text: string): { url: URL; tls: TlsOptions | undefined } {
  const url = new URL(text);
  const file = url.searchParams.get(AUTHORITIES);
  url.searchParams.delete(AUTHORITIES);
  if (url.protocol !== 'tls:' && url.protocol !== 'rediss:') return { url, tls: undefined };
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const tls: TlsOptions = isIP(host) === 0 ? { host, servername: host } : { host };
  return { url, tls: file === null ? tls : { ...tls, ca: readFileSync(file, 'utf8') } };
}
