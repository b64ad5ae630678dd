import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type NatsHandle, startNats } from '@quittance/engines/nats';
import { startNatsCluster } from '@quittance/engines/nats-cluster';
import { busUrl, PROVISIONER } from '@quittance/shared/bus-connection';
import { busUsers } from '@quittance/shared/bus-permissions';
import { services } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import type { Finding } from '../src/doctor/finding.ts';
import { quittanceIn, startCommand } from './quittance-in.ts';

/** The operator's commands for NATS, and what Docker Compose gives nats-server. */

const checkout = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, checkout), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'quittance-cli-bus-'));
// Begins with a digit, as a password in hexadecimal may: nats-server would take it for a number.
const passwordOf = (user: string) => `12e5${user}`;

let nats: NatsHandle;

beforeAll(async () => {
  const config = join(folder, 'config');
  mkdirSync(config);
  // What compose mounts, with the passwords as it hands them over; port and folder are this test's own.
  let permissions = read('deploy/nats/permissions.conf');
  for (const user of busUsers) {
    permissions = permissions.replace(
      `$${user.toUpperCase()}_NATS_PASSWORD`,
      JSON.stringify(passwordOf(user)),
    );
  }
  writeFileSync(join(config, 'permissions.conf'), permissions);
  nats = await startNats({
    dataDir: join(folder, 'nats'),
    port: 0,
    config: `include "../config/permissions.conf"`,
  });
});
afterAll(async () => {
  await nats?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ended = (args: readonly string[], env: Record<string, string>) => quittanceIn(folder, env, args);

const asProvisioner = () => ({ NATS_URL: busUrl(nats.url, PROVISIONER, passwordOf(PROVISIONER)) });

describe('nats provision', () => {
  test('creates what NATS lacks, and then finds nothing to do', async () => {
    const first = await ended(['nats', 'provision'], asProvisioner());
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toMatch(/^Created: stream EVT, .*consumer ledger/);
    expect((await ended(['nats', 'provision'], asProvisioner())).out).toBe('NATS lacks nothing.\n');
    expect((await ended(['nats', 'provision', '--json'], asProvisioner())).json()).toEqual({ made: [] });
  });

  test('creates everything again when NATS loses its data, until it is told to end', async () => {
    const stop = new AbortController();
    const args = ['nats', 'provision', '--watch'];
    const { code, said } = startCommand(folder, asProvisioner(), args, stop.signal);
    await nats.stop();
    rmSync(join(folder, 'nats', 'jetstream'), { recursive: true });
    await nats.restart();
    await eventually(() => expect(said.out).toContain('stream EVT'), 10_000);
    stop.abort();
    expect(await code).toBe(0);
    expect((await ended(['nats', 'provision'], asProvisioner())).out).toBe('NATS lacks nothing.\n');
  });

  test('creates the streams on three nodes of a cluster, and the doctor tells so', async () => {
    const nodes = await startNatsCluster({ dataDir: join(folder, 'cluster'), port: 0 });
    try {
      const env = { NATS_URL: nodes[0]?.url ?? '' };
      const made = await ended(['nats', 'provision', '--replicas', '3'], env);
      expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^Created: stream EVT, /) });
      const { findings } = (await ended(['doctor', '--json'], env)).json() as { findings: Finding[] };
      expect(findings.find(({ check, subject }) => check === 'bus' && subject === 'streams')).toMatchObject({
        state: 'ok',
        found: 'stream, consumers and buckets are there, on 3 nodes',
      });
    } finally {
      await Promise.all(nodes.map((node) => node.stop()));
    }
  });

  test.each([
    [{}, /Set NATS_URL to nats:\/\/provisioner:<password>@/],
    [{ NATS_URL: 'http://provisioner:geheim@nats:4222' }, /not to such a URL/],
  ])('without the URL of a bus says what to set (%#)', async (env, message) => {
    const refused = await ended(['nats', 'provision', '--watch'], env);
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(message) });
    expect(refused.err).not.toContain('geheim');
  });
});

describe('nats permissions', () => {
  test('prints what is in deploy/nats: npx quittance nats permissions > deploy/nats/permissions.conf', async () => {
    expect((await ended(['nats', 'permissions'], {})).out).toBe(read('deploy/nats/permissions.conf'));
  });

  test('in JSON says of each user what it may', async () => {
    const { ledger, provisioner, gateway } = (await ended(['nats', 'permissions', '--json'], {})).json();
    expect(ledger.publish).toContain('evt.ledger.invoices.credit.recorded');
    expect(provisioner).toMatchObject({ subscribe: ['_INBOX.provisioner.>'], answers: false });
    expect(gateway).toBeUndefined();
  });
});

describe('docker compose', () => {
  const compose = read('docker-compose.yml');
  const variables = [
    ...[...services, 'operator'].map((role) => `${role.toUpperCase()}_DATABASE_PASSWORD`),
    ...busUsers.map((user) => `${user.toUpperCase()}_NATS_PASSWORD`),
  ];

  test('asks for a separate password for each role and each user of NATS', () => {
    const asked = read('.env.example')
      .split('\n')
      .filter((line) => /_(DATABASE|NATS)_PASSWORD=/.test(line));
    expect(asked).toEqual(variables.map((name) => `${name}=`));
  });

  test.each(busUsers)('hands %s’s password to nats-server in quotes, and to its user alone', (user) => {
    const name = `${user.toUpperCase()}_NATS_PASSWORD`;
    expect(compose).toContain(`      ${name}: '"\${${name}:?see .env.example}"'\n`);
    expect(compose).toContain(
      `      NATS_URL: tls://${user}:\${${name}}@nats:4222?sslrootcert=/tls/ca.crt\n`,
    );
    // The operator's command looks at NATS as the provisioner.
    expect(compose.split(`{${name}`)).toHaveLength(user === PROVISIONER ? 4 : 3);
  });

  test.each(services)('connects %s to the database as itself alone', (service) => {
    const name = `${service.toUpperCase()}_DATABASE_PASSWORD`;
    expect(compose).toContain(`postgres://quittance_${service}:\${${name}}@postgres`);
    expect(compose.split(`{${name}`)).toHaveLength(3);
  });
});
