import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate for localhost that openssl makes in a new folder, valid between two times, which is its own authority. */
export function opensslCertificate(
  folder: string,
  from: Date,
  to: Date,
): { certificate: string; key: string } {
  mkdirSync(folder);
  writeFileSync(join(folder, 'index.txt'), '');
  writeFileSync(
    join(folder, 'ca.cnf'),
    `[ca]\ndefault_ca = own\n[own]\ndatabase = index.txt\nnew_certs_dir = .\nrand_serial = yes\ndefault_md = sha256\npolicy = any\nx509_extensions = names\n[any]\ncommonName = supplied\n[names]\nsubjectAltName = DNS:localhost\n`,
  );
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key.pem'];
  openssl('req', '-new', ...key, '-subj', '/CN=localhost', '-out', 'request.pem');
  const dates = ['-startdate', timeOf(from), '-enddate', timeOf(to)];
  const files = ['-keyfile', 'key.pem', '-in', 'request.pem', '-out', 'certificate.pem', '-notext'];
  openssl('ca', '-selfsign', '-batch', '-config', 'ca.cnf', ...dates, ...files);
  return { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
}

const timeOf = (date: Date) => `${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`;
