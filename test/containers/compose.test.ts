import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Container } from '@quittance/stack/compose-stack';
import { must, shell } from '@quittance/stack/shell';
import { eventually } from '@quittance/testkit/eventually';
import { type ComposeShop, composeShop, type Merchant, scaled, twice } from './compose-shop.ts';

/* What operators run: docker-compose.yml. In an order of its own: each step needs the one before. */

const MINUTES = 60_000;
const FIRST_PORT = 28_400;
/**
 * Two seconds are claimed, on a machine that does nothing else. Elsewhere only what waits for something can be recognised:
 * the cores are shared with seven other containers and the simulation.
 */
const LISTENS_WITHIN_MS = process.env['PROOFS'] === 'full' ? 2_000 : 20_000;
/** What is slow because the machine is busy is fast another time. */
const STARTS_MAX = 3;
const ASK_EVERY_MS = 1_000;
const READS = 64;
/** Where those listen that the gateway asks, inside the network, and what it asks them for. */
const asked = {
  invoices: { port: 8401, path: '/api/invoices' },
  payouts: { port: 8402, path: '/api/payouts' },
  ledger: { port: 8403, path: '/api/balances' },
  webhooks: { port: 8404, path: '/api/webhooks' },
} as const;
const toAsk = Object.entries(asked);

let project: ComposeShop;
let shop: Merchant;
let invoiceId: string;

beforeAll(async () => {
  project = await composeShop(FIRST_PORT);
}, 2 * MINUTES);

afterAll(async () => {
  shop?.close();
  await project?.remove();
}, 3 * MINUTES);

/** @returns the answers' statuses. */
async function readMany(): Promise<number[]> {
  const paths = Array.from({ length: READS }, (_, i) => toAsk[i % toAsk.length]?.[1].path ?? '');
  return (await Promise.all(paths.map((path) => shop.get(path)))).map(({ status }) => status);
}
const allRight = Array.from({ length: READS }, () => 200);

test(
  'up: the migrations run first, and everything is healthy',
  async () => {
    await project.up();
    const all = await project.containers();
    expect(all.filter(({ service }) => service === 'migrate')).toMatchObject([{ state: 'exited' }]);
    const healthy = all.filter(({ health }) => health === 'healthy').map(({ service }) => service);
    expect(healthy).toEqual(expect.arrayContaining([...scaled]));
    for (const { service, readOnly, coreBytesMax } of all) {
      const isEngine = ['postgres', 'nats', 'redis'].includes(service);
      expect([service, readOnly, coreBytesMax]).toEqual([service, !isEngine, 0]);
    }
  },
  6 * MINUTES,
);

/** What each reaches beside itself, by a connection to any address that the other has in a network of Docker. */
const reachable = {
  // It is in the networks of the services, as are Postgres, NATS and nodes that run in containers.
  gateway: ['invoices', 'payouts', 'ledger', 'webhooks', 'postgres', 'nats', 'redis', 'chains', 'auditor'],
  invoices: ['postgres', 'nats', 'chains'],
  payouts: ['postgres', 'nats', 'chains'],
  ledger: ['postgres', 'nats'],
  webhooks: ['postgres', 'nats'],
  signer: ['postgres', 'nats'],
  auditor: ['postgres', 'nats', 'chains'],
} as const;
const ports = { auditor: 8405, postgres: 5432, nats: 4222, redis: 6379, chains: 8545 };

test(
  'a service reaches Postgres, NATS and nodes, and no other service but the gateway does',
  async () => {
    const all = [
      ...toAsk.map(([name, { port }]) => ({ name, port })),
      ...Object.entries(ports).map(([name, port]) => ({ name, port })),
    ];
    const addresses = await Promise.all(
      all.map(async ({ name, port }) => {
        const [target] = await project.running(name);
        const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
        const text = await must('docker', ['inspect', '--format', format, target?.id ?? '']);
        return text
          .trim()
          .split(' ')
          .map((address) => ({ name, address, port }));
      }),
    );
    expect(addresses.map((of) => of.length > 0)).toEqual(all.map(() => true));
    for (const [service, expected] of Object.entries(reachable)) {
      const [from] = await project.running(service);
      const others = addresses.flat().filter(({ name }) => name !== service);
      const reached = JSON.parse(
        await must('docker', ['exec', from?.id ?? '', 'node', '--eval', connecting(others)]),
      ) as string[];
      expect([service, [...new Set(reached)].sort()]).toEqual([service, [...expected].sort()]);
    }
  },
  2 * MINUTES,
);

/** A program that prints the names of those to which it can connect. */
const connecting = (targets: readonly { name: string; address: string; port: number }[]) => `
  const { connect } = process.getBuiltinModule('node:net');
  const reaches = ({ name, address, port }) => new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: 2_000 }, () => resolve([name]));
    for (const event of ['error', 'timeout']) socket.on(event, () => resolve([]));
  });
  Promise.all(${JSON.stringify(targets)}.map(reaches)).then((names) => {
    process.stdout.write(JSON.stringify(names.flat()));
    process.exit();
  });`;

/** The beginning of a program in the container of the gateway: `query` asks Postgres as its administrator. */
const asAdministrator = (password: string) => `
  const { createRequire } = process.getBuiltinModule('node:module');
  const { Client } = createRequire('/app/packages/shared/package.json')('pg');
  const query = async (text) => {
    const client = new Client({
      connectionString: 'postgres://quittance:${password}@postgres:5432/quittance?sslmode=verify-full&sslrootcert=/tls/ca.crt',
    });
    await client.connect();
    const { rows } = await client.query(text);
    await client.end();
    return rows;
  };`;

/** Prints how Postgres, NATS and Redis take connections. */
const ENCRYPTION = `
  const { connect } = process.getBuiltinModule('node:net');
  const tls = process.getBuiltinModule('node:tls');
  const ca = process.getBuiltinModule('node:fs').readFileSync('/tls/ca.crt');
  const said = (socket, order) => new Promise((resolve) => {
    let text = '';
    socket.on('data', (data) => { text += data; if (text.includes('\\n')) socket.destroy(); });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(text.split('\\r\\n')[0]));
    socket.setTimeout(5_000, () => socket.destroy());
    socket.write(order);
  });
  const remote = 'select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where client_addr is not null';
  (async () => process.stdout.write(JSON.stringify({
    nats: JSON.parse((await said(connect(4222, 'nats'), '')).replace('INFO ', '')).tls_required,
    plainRedis: await said(connect(6379, 'redis'), 'PING\\r\\n'),
    strangerToRedis: await said(tls.connect({ host: 'redis', port: 6379, servername: 'redis', ca }), 'PING\\r\\n'),
    postgres: await query(remote),
    gatewayCountsInRedis: (await (await fetch('http://127.0.0.1:9464/metrics')).text()).includes('quittance_rate_limit_redis_up 1'),
  })))();`;

/** @returns what the program prints. */
async function runAsAdministrator(program: string): Promise<string> {
  const [gateway] = await project.running('gateway');
  const whole = asAdministrator(project.settings['POSTGRES_PASSWORD'] ?? '') + program;
  return await must('docker', ['exec', gateway?.id ?? '', 'node', '--eval', whole]);
}

test(
  'every connection to Postgres, NATS and Redis is encrypted, and Redis wants its password',
  async () => {
    expect(JSON.parse(await runAsAdministrator(ENCRYPTION))).toEqual({
      nats: true,
      plainRedis: '',
      strangerToRedis: '-NOAUTH Authentication required.',
      postgres: [{ ssl: true }],
      gatewayCountsInRedis: true,
    });
  },
  2 * MINUTES,
);

test(
  'a sale end to end',
  async () => {
    shop = await project.open();
    invoiceId = await shop.sale(25);
    expect(await shop.balance()).toBe('0.01');
    await project.expectBooksRight();
  },
  5 * MINUTES,
);

test.each(scaled)(
  '%s listens soon after its container has begun',
  async (service) => {
    const [container] = await project.running(service);
    const took: number[] = [];
    while (took.length < STARTS_MAX && !took.some((ms) => ms < LISTENS_WITHIN_MS))
      took.push(await restart(container?.id ?? ''));
    process.stdout.write(`${service} listened ${took.join(', ')} ms after its container had begun\n`);
    expect(Math.min(...took)).toBeLessThan(LISTENS_WITHIN_MS);
  },
  3 * MINUTES,
);

/** @returns how long after its container had begun a service listened, in milliseconds. */
async function restart(id: string): Promise<number> {
  await must('docker', ['restart', '--time', '12', id]);
  const begunAt = (await must('docker', ['inspect', '--format', '{{.State.StartedAt}}', id])).trim();
  const line = await eventually(async () => {
    const { stdout, stderr } = await shell('docker', ['logs', '--since', begunAt, id]);
    const found = `${stdout}${stderr}`.split('\n').find((text) => text.includes(' listens"'));
    if (found === undefined) throw new Error('it does not say that it listens');
    return found;
  });
  const { time } = JSON.parse(line) as { time: string };
  return Date.parse(time) - Date.parse(begunAt);
}

test(
  'scaled: each replica is asked, and with one of each killed all goes on',
  async () => {
    await project.up({ replicas: twice });
    // Whoever asks keeps its connections, so a new replica is found when those have had their time.
    await eventually(
      async () => {
        expect(await readMany()).toEqual(allRight);
        for (const [service, { port }] of toAsk) {
          const replicas = await project.running(service);
          const connections = await Promise.all(replicas.map((replica) => connectionsOf(replica, port)));
          expect([service, connections.filter((count) => count > 0).length]).toEqual([service, 2]);
        }
      },
      2 * MINUTES,
      ASK_EVERY_MS,
    );
    for (const service of scaled) {
      const replicas = await project.running(service);
      expect([service, replicas.length]).toEqual([service, 2]);
      await must('docker', ['kill', replicas[1]?.id ?? '']);
    }
    expect(await readMany()).toEqual(allRight);
    await shop.sale(5);
  },
  6 * MINUTES,
);

/** How many connections somebody has to a replica's own port, by what the kernel says. */
async function connectionsOf({ id }: Container, port: number): Promise<number> {
  const hex = port.toString(16).toUpperCase();
  const established = new RegExp(`^ *\\d+: \\w+:${hex} \\w+:\\w+ 01 `);
  const table = await must('docker', ['exec', id, 'cat', '/proc/net/tcp']);
  return table.split('\n').filter((line) => established.test(line)).length;
}

test(
  'down, and up again with the data there',
  async () => {
    const before = await shop.balance();
    await project.down();
    expect(await project.containers()).toEqual([]);
    await project.up();
    expect((await shop.get(`/api/invoices/${invoiceId}`)).body).toMatchObject({ status: 'paid' });
    expect(await shop.balance()).toBe(before);
    await shop.sale(5);
    await project.expectBooksRight();
  },
  8 * MINUTES,
);

/** As if they were older than 90 days, and pruned. */
const PRUNE_ALL = `
  query("update webhooks.events set created_at = created_at - interval '200 days'")
    .then(() => query('select webhooks.prune_events(account_id, 1000) from webhooks.accounts'));`;

test(
  'old events are archived into a folder of the host',
  async () => {
    const operator = ['run', '--rm', '-T'];
    const folder = mkdtempSync(join(tmpdir(), 'archive-'));
    // The program in the container is another user, and who runs the tests cannot give a folder away.
    chmodSync(folder, 0o777);
    await project.must(...operator, 'quittance', 'archive', 'start');
    await runAsAdministrator(PRUNE_ALL);
    const archive = ['--volume', `${folder}:/archive`, 'quittance', 'archive', 'write', '--to', '/archive'];
    const said = await project.must(...operator, ...archive);
    const files = readdirSync(folder);
    expect(files).toContainEqual(expect.stringMatching(/^events-\d{4}-\d\d-\w+\.jsonl\.gz$/));
    for (const file of files) expect(said).toContain(`/archive/${file}`);
    expect(await project.must(...operator, ...archive)).toContain('No month waits to be archived.');
    rmSync(folder, { recursive: true });
  },
  3 * MINUTES,
);
