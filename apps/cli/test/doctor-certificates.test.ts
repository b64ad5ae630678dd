import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { startNats } from '@quittance/engines/nats';
import { opensslCertificate } from '@quittance/testkit/openssl-certificate';
import { doctorSuite, wrong } from './doctor-at.ts';

/** What `quittance doctor` says of certificates: of servers that have them, and of files that services trust. */
const { folder, nats, looked, finally: afterwards } = await doctorSuite();

const HOUR_MS = 3_600_000;

describe('certificates', () => {
  /** What is said of a NATS with a certificate of this time, which is trusted itself unless another one is. */
  async function tlsNats(name: string, from: Date, to: Date, trusted?: string) {
    const files = opensslCertificate(join(folder, name), from, to);
    const config = `tls { cert_file: "${files.certificate}", key_file: "${files.key}" }`;
    const server = await startNats({ dataDir: join(folder, `${name}-nats`), port: 0, config });
    afterwards(() => server.stop());
    const { findings } = await looked({
      NATS_URL: `tls://localhost:${server.port}?sslrootcert=${trusted ?? files.certificate}`,
    });
    return findings.filter(({ check }) => check === 'certificate');
  }
  const inDays = (days: number) => new Date(Date.now() + days * 24 * HOUR_MS);

  test('one that has expired is a problem, of the server and of the file that services trust', async () => {
    const found = await tlsNats('expired', inDays(-20), inDays(-10));
    const day = inDays(-10).toISOString().slice(0, 10);
    expect(wrong(found).map(({ subject, found: text }) => [subject, text])).toEqual([
      ['NATS', `expired on ${day}`],
      [expect.stringMatching(/^authorities in .*certificate\.pem$/), `expired on ${day}`],
    ]);
    expect(wrong(found)[0]?.remedy).toBe('Renew the certificate of localhost.');
  });

  test('one that expires within a month is a warning', async () => {
    const found = await tlsNats('ending', inDays(-10), inDays(10));
    expect(found.map(({ state, subject }) => `${state} ${subject.split(' ', 1)[0]}`)).toEqual([
      'warning NATS',
      'warning authorities',
    ]);
  });

  test('one of another authority is a problem', async () => {
    const other = opensslCertificate(join(folder, 'other'), inDays(-1), inDays(90));
    expect(wrong(await tlsNats('own', inDays(-1), inDays(90), other.certificate))).toEqual([
      expect.objectContaining({ subject: 'NATS', found: expect.stringMatching(/^it is not accepted \(/) }),
    ]);
  });

  test('a server that offers no TLS where the URL asks for it is a problem, and an unencrypted URL a warning', async () => {
    const plain = new URL(nats.url);
    plain.protocol = 'tls:';
    const { findings } = await looked({
      NATS_URL: plain.href,
      REDIS_URL: `rediss://127.0.0.1:${plain.port}`,
      ETHEREUM_RPC_URL: 'http://node.example:8545',
      ETHEREUM_CHAIN_ID: '1',
    });
    const found = findings.filter(({ check }) => check === 'certificate');
    expect(found.map(({ subject, state }) => `${subject} ${state}`)).toEqual([
      'NATS problem',
      'Redis problem',
      'ethereum, node 1 warning',
    ]);
    expect(found[0]?.found).toBe('the server offers no TLS');
  });
});
