import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { secretsInLogs } from '@quittance/reconciliation/secrets-in-logs';
import { ADMIN } from '@quittance/shared/bus-permissions';
import { type Service, services } from '@quittance/shared/events';
import { listeningServices } from '@quittance/stack/ports';
import { eventually } from '@quittance/testkit/eventually';
import type { Quittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { connect } from 'nats';
import { merchantWith, type OnStack } from './on-stack.ts';

/** Where no secret of a running stack may stand: what it says of itself, what it sends, what it stores, and the list of processes. */

type Secrets = Record<string, string>;

const schemas = services.map((service) => `'${service}'`).join();

/** Of each process of this machine, as any user sees them: no secret is on a command line. */
function commandLines(): string {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => readOfProcess(pid, 'cmdline')).join('\n');
}

/** Nothing of a process that has ended meanwhile. */
function readOfProcess(pid: number | string, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', '\n');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

/** All rows of all tables, as a dump has them. */
async function rowsOf({ db }: Quittance): Promise<string> {
  const tables = await db.rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in (${schemas}, 'public')`,
  );
  expect(tables.length).toBeGreaterThan(40);
  const rows: string[] = [];
  for (const { name } of tables)
    for (const { row } of await db.rows<{ row: string }>(`select t::text as row from ${name} t`))
      rows.push(`${name} ${row}`);
  return rows.join('\n');
}

async function metricsOf({ stack }: Quittance, gatewayPort: number): Promise<string> {
  const behind = listeningServices.filter((one) => one !== 'gateway');
  const ports = [...behind.map((one) => stack.ports[one]), gatewayPort];
  const answers = ports.map(async (port) => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  return (await Promise.all(answers)).join('\n');
}

/** Requests that go wrong in as many ways as there are, and all that is said of them. */
async function errorsOf({ url }: Quittance, token: string): Promise<string> {
  const requests: [string, string, string?][] = [
    ['GET', '/api/payouts/1'],
    ['GET', '/api/nothing'],
    ['DELETE', '/api/payouts'],
    ['POST', '/api/payouts', '{"asset":"ETH","amount":1,"address":"0x1"}'],
    ['POST', '/api/payouts', '{'],
    ['POST', '/api/webhooks', '{"url":"https://user:secret@shop.example/"}'],
    ['POST', `/api/payouts`, 'x'.repeat(100_000)],
    ['GET', '/readyz'],
    ['GET', '/claim/nothing'],
    ['GET', '/pay/nothing'],
  ];
  const answers: string[] = [];
  for (const [method, path, body] of requests) {
    for (const authorization of [`Bearer ${token}`, `Bearer ${token}x`]) {
      const headers = { authorization, 'content-type': 'application/json' };
      const answer = await fetch(`${url}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      answers.push(JSON.stringify([...answer.headers]), await answer.text());
    }
  }
  return answers.join('\n');
}

export const secretCases = (stack: OnStack, gatewayMetricsPort: () => number): void => {
  async function found(texts: Record<string, string>, secrets: Secrets): Promise<string[]> {
    const dir = mkdtempSync(join(tmpdir(), 'quittance-canary-'));
    try {
      const files = Object.entries(texts).map(([name, text]) => {
        const file = join(dir, name);
        writeFileSync(file, text);
        return file;
      });
      return (await secretsInLogs(files, secrets)).map(({ subject }) => subject);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }

  const ownSecrets = ({ stack: { secrets } }: Quittance): Secrets => {
    const { busPasswords, ...own } = secrets;
    const ofUsers = Object.entries(busPasswords).map(([user, password]) => [`password of ${user}`, password]);
    return { ...own, ...(Object.fromEntries(ofUsers) as Secrets) };
  };

  test('no secret is in an error, a metric, a table, a message or on a command line', async () => {
    const quittance = stack();
    const { host, username: user, password: pass } = new URL(quittance.stack.busUrl(ADMIN));
    const nats = await connect({ servers: host, user, pass, reconnect: false });
    const receiver: Receiver = await startReceiver();
    try {
      // Events and published values; questions of one service to another are in accounts of their own.
      let messages = '';
      nats.subscribe('>', {
        callback: (_error, message) => {
          messages += `${message.subject} ${message.string()}\n`;
        },
      });
      await nats.flush();
      const shop = await merchantWith(quittance, 'ETH', 100);
      const hook = await shop.post('/api/webhooks', { url: `${receiver.url}/canary` });
      const made = await shop.post('/api/tokens', { name: 'canary' });
      const order = { asset: 'ETH', amount: 0.001, address: await quittance.ethereum.newAddress() };
      expect((await shop.post('/api/payouts', order)).status).toBe(201);
      expect((await shop.post(`/api/webhooks/${hook.body.data.id}/test`, {})).status).toBe(202);
      await eventually(() => expect(receiver.received).not.toEqual([]));
      const secrets = {
        ...ownSecrets(quittance),
        'token of the shop': shop.token,
        'token that was made': String(made.body.data.token),
        'secret of the endpoint': String(hook.body.data.secret),
      };
      const texts = {
        errors: await errorsOf(quittance, shop.token),
        metrics: await metricsOf(quittance, gatewayMetricsPort()),
        tables: await rowsOf(quittance),
        messages,
        webhooks: receiver.received.map((one) => JSON.stringify(one)).join('\n'),
        processes: commandLines(),
      };
      // Empty texts would hold no secret either.
      expect(Object.entries(texts).filter(([, text]) => text.length < 200)).toEqual([]);
      expect(texts.messages).toContain('evt.invoices.ledger.deposit.settled');
      expect(await found(texts, secrets)).toEqual([]);
      // What is searched for is found where it is.
      const seeded = `${texts.tables}\n${JSON.stringify({ a: secrets['token of the shop'] })}`;
      expect(await found({ seeded }, secrets)).toEqual(['token of the shop in seeded']);
    } finally {
      await nats.close();
      await receiver.close();
    }
  });

  test('the environment of a process holds the secrets of its own service alone', async () => {
    const quittance = stack();
    const apart: readonly Service[] = ['gateway', 'ledger', 'webhooks'];
    for (const service of apart) {
      const text = readOfProcess(quittance.stack.services[service as 'gateway'].pid ?? 0, 'environ');
      const own = JSON.stringify(quittance.stack.settingsOf(service));
      const others = Object.entries(ownSecrets(quittance)).filter(([, secret]) => !own.includes(secret));
      expect(text).toContain('DATABASE_URL=');
      expect(await found({ [service]: text }, Object.fromEntries(others))).toEqual([]);
      expect(others.map(([name]) => name)).toContain('walletSeed');
    }
  });
};
