import { X509Certificate } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeSecretFile } from '@quittance/chains/keystore';
import { reason } from '@quittance/shared/logger';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

/** As docker-compose.yml calls them, so that services find them by these names. */
const SERVERS = ['postgres', 'nats', 'redis'] as const;
const AUTHORITY = join('ca', 'ca.crt');
const certificateOf = (server: string) => join(server, 'server.crt');
const keyOf = (server: string) => join(server, 'server.key');
const FILES = [AUTHORITY, ...SERVERS.flatMap((server) => [certificateOf(server), keyOf(server)])];
const DAY_MS = 24 * 60 * 60_000;
const WARNED_DAYS = 90;
const READABLE = 0o644;

export type CertificateOptions = { owner?: number };

/**
 * Writes certificates for Postgres, NATS and Redis, and the authority's by which services verify them, each in a folder of
 * its own. What is complete is kept. The owner of the keys is another user than root where the servers are.
 */
export async function makeCertificates(
  { cwd }: Surroundings,
  folder: string,
  { owner }: CertificateOptions,
  now: Date,
): Promise<SaidOutcome> {
  const root = resolve(cwd, folder);
  if (FILES.every((file) => existsSync(join(root, file)))) return kept(root, folder, now);
  const { newCertificates } = await import('./certificates.ts');
  const { authority, servers } = await newCertificates(SERVERS, now);
  const write = (file: string, text: string, isSecret: boolean) => {
    const path = join(root, file);
    const unfinished = `${path}.new`;
    rmSync(unfinished, { force: true });
    writeSecretFile(unfinished, text);
    if (isSecret && owner !== undefined) chownSync(unfinished, owner, owner);
    if (!isSecret) chmodSync(unfinished, READABLE);
    renameSync(unfinished, path);
  };
  try {
    for (const name of ['ca', ...SERVERS]) mkdirSync(join(root, name), { recursive: true });
    for (const [server, { certificate, key }] of servers) {
      write(certificateOf(server), certificate, false);
      write(keyOf(server), key, true);
    }
    write(AUTHORITY, authority, false);
  } catch (error) {
    throw new CommandError(`The certificates cannot be written to ${folder}: ${reason(error)}.`);
  }
  return {
    text: say`Certificates for ${SERVERS.join(', ')} are in ${folder}. Services verify them by ${join(folder, AUTHORITY)}.\n`,
    json: { made: true, valid_to: validTo(root).toISOString() },
  };
}

function kept(root: string, folder: string, now: Date): SaidOutcome {
  const end = validTo(root);
  const days = Math.floor((end.getTime() - now.getTime()) / DAY_MS);
  const advice =
    days < WARNED_DAYS
      ? say`They end soon: delete these files, run this again, and restart the servers and all services.\n`
      : say``;
  return {
    text: say`The certificates in ${folder} are kept. They are valid to ${end.toISOString().slice(0, 10)}.\n${advice}`,
    json: { made: false, valid_to: end.toISOString() },
    bad: days < 0,
  };
}

/** Of all of them the first end. */
function validTo(root: string): Date {
  const files = [AUTHORITY, ...SERVERS.map(certificateOf)];
  const ends = files.map((file) => new X509Certificate(readFileSync(join(root, file))).validToDate.getTime());
  return new Date(Math.min(...ends));
}
