import { X509Certificate } from 'node:crypto';
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startNats } from '@quittance/engines/nats';
import { startPostgres } from '@quittance/engines/postgres';
import { connectPatiently } from '@quittance/shared/bus-connection';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { printed } from '@quittance/testkit/printed';
import { makeCertificates } from '../src/certificate-commands.ts';
import { newCertificates } from '../src/certificates.ts';
import { run } from '../src/run.ts';

const SERVERS = ['postgres', 'nats', 'redis'];
const HOST = 'localhost';
const DAY_MS = 24 * 60 * 60_000;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'quittance-certificates-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const path = (...names: string[]) => join(dir, ...names);
const certificate = (...names: string[]) => new X509Certificate(readFileSync(path(...names)));

const certificates = (...args: string[]) =>
  printed((to) => run(['certificates', ...args], { env: {}, cwd: dir, ...to }));

test('each server has a certificate of its own name, all of one authority, whose key is kept nowhere', async () => {
  expect(await certificates('made')).toMatchObject({ code: 0, err: '' });
  const authority = certificate('made', 'ca', 'ca.crt');
  expect(authority.ca).toBe(true);
  for (const server of SERVERS) {
    const own = certificate('made', server, 'server.crt');
    expect([own.verify(authority.publicKey), own.checkIssued(authority), own.ca]).toEqual([
      true,
      true,
      false,
    ]);
    const names = [...SERVERS, HOST].filter((name) => own.checkHost(name) !== undefined);
    expect(names).toEqual([server]);
    const modes = ['server.key', 'server.crt'].map(
      (file) => statSync(path('made', server, file)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o644]);
  }
  expect(statSync(path('made', 'ca', 'ca.crt')).mode & 0o777).toBe(0o644);
});

test('complete certificates are kept, with a warning before their end and a failure after it; incomplete ones are made', async () => {
  await certificates('again');
  const before = readFileSync(path('again', 'ca', 'ca.crt'), 'utf8');
  expect(await certificates('again')).toMatchObject({ code: 0, out: expect.stringContaining('are kept') });
  expect(readFileSync(path('again', 'ca', 'ca.crt'), 'utf8')).toBe(before);
  const end = certificate('again', 'ca', 'ca.crt').validToDate.getTime();
  const around = { env: {}, cwd: dir, out: () => undefined, err: () => undefined };
  const looked = async (days: number) => makeCertificates(around, 'again', {}, new Date(end + days * DAY_MS));
  expect(await looked(-100)).toMatchObject({ bad: false });
  expect(JSON.stringify((await looked(-100)).text)).not.toContain('They end soon');
  expect(JSON.stringify((await looked(-80)).text)).toContain('They end soon');
  expect(await looked(1)).toMatchObject({ bad: true });
  rmSync(path('again', 'nats', 'server.key'));
  await certificates('again');
  expect(readFileSync(path('again', 'ca', 'ca.crt'), 'utf8')).not.toBe(before);
  expect(certificate('again', 'nats', 'server.crt').checkIssued(certificate('again', 'ca', 'ca.crt'))).toBe(
    true,
  );
});

test('a folder that cannot be written is an error that names it', async () => {
  writeFileSync(path('file'), '');
  expect(await certificates('file')).toMatchObject({ code: 1, err: expect.stringContaining('to file:') });
});

/** A certificate for this machine, and an authority that has not signed it. */
async function ofThisMachine(name: string) {
  const [{ authority, servers }, other] = [
    await newCertificates([HOST], new Date()),
    await newCertificates([HOST], new Date()),
  ];
  const own = servers.get(HOST);
  mkdirSync(path(name));
  const write = (file: string, text: string) => {
    writeFileSync(path(name, file), text, { mode: 0o600 });
    return path(name, file);
  };
  return {
    certificate: write('server.crt', own?.certificate ?? ''),
    key: write('server.key', own?.key ?? ''),
    authority: write('ca.crt', authority),
    other: write('other.crt', other.authority),
  };
}

test('a service connects to NATS by TLS, and not where the authority, the name or TLS is another', async () => {
  const files = await ofThisMachine('nats');
  const tls = `tls { cert_file: "${files.certificate}", key_file: "${files.key}" }`;
  const encrypted = await startNats({ dataDir: path('nats', 'data'), port: 0, config: tls });
  const plain = await startNats({ dataDir: path('nats', 'plain'), port: 0 });
  /** The reason for which it is not connected; undefined when it is. */
  const refusal = async (url: string): Promise<string | undefined> => {
    const stop = new AbortController();
    let why: string | undefined;
    const heard = (line: string) => {
      why ??= (JSON.parse(line) as { reason?: string }).reason;
      stop.abort();
    };
    const logger = createLogger('test', 'warn', { write: heard });
    // It tries for ever until it is told to stop, and says then only that: why is in the log line before.
    const bus = await connectPatiently(url, 'ledger', logger, stop.signal).catch(() => undefined);
    await bus?.close();
    return bus === undefined ? why : undefined;
  };
  const server = `${HOST}:${encrypted.port}`;
  try {
    expect(await refusal(`tls://${server}?sslrootcert=${files.authority}`)).toBeUndefined();
    expect(await refusal(`tls://${server}?sslrootcert=${files.other}`)).toMatch(/certificate|signature/);
    expect(await refusal(`tls://127.0.0.1:${encrypted.port}?sslrootcert=${files.authority}`)).toMatch(
      /IP|altname/,
    );
    expect(await refusal(`tls://${HOST}:${plain.port}?sslrootcert=${files.authority}`)).toBeDefined();
  } finally {
    await Promise.all([encrypted.stop(), plain.stop()]);
  }
});

test('a service connects to Postgres by TLS, and not where the authority or the name is another', async () => {
  const files = await ofThisMachine('postgres');
  const data = path('postgres', 'data');
  const before = await startPostgres({ dataDir: data, port: 0 });
  await before.stop();
  // Postgres runs as its own user where this runs as root, and takes a key of its own only.
  const { uid, gid } = statSync(before.dataDir);
  for (const [file, name] of [
    [files.certificate, 'server.crt'],
    [files.key, 'server.key'],
  ] as const) {
    copyFileSync(file, join(before.dataDir, name));
    chownSync(join(before.dataDir, name), uid, gid);
  }
  const postgres = await startPostgres({ dataDir: data, port: 0, settings: { ssl: 'on' } });
  const asked = async (host: string, authority: string) => {
    const url = new URL(postgres.url);
    url.hostname = host;
    url.search = `?sslmode=verify-full&sslrootcert=${authority}`;
    const db = openDb({ url: url.href, schema: 'public', pool: 1, logger: createLogger('test', 'silent') });
    const sql = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
    try {
      return await db.one<{ ssl: boolean }>(sql);
    } finally {
      await db.close();
    }
  };
  try {
    expect(await asked(HOST, files.authority)).toEqual({ ssl: true });
    await expect(asked(HOST, files.other)).rejects.toThrow(/certificate|signature/);
    await expect(asked('127.0.0.1', files.authority)).rejects.toThrow(/IP|altname/);
  } finally {
    await postgres.destroy();
  }
});
