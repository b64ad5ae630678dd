import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { CONTAINER_NAMES, imageOf } from '@quittance/stack/container-images';
import { removeContainers } from '@quittance/stack/docker-command';
import { must, shell } from '@quittance/stack/shell';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';

/** The image quittance/sandbox as a CI service: started by one command, and used over its only published port. */

const MINUTES = 60_000;
const READY_WITHIN_MS = 90_000;
const PAID_WITHIN_MS = 60_000;
const ASK_EVERY_MS = 1_000;
/** Docker kills what has not ended by then. */
const STOP_SECONDS = 20;

const name = `${CONTAINER_NAMES}${randomBytes(4).toString('hex')}`;
/** A command in the container, as a step of a workflow runs it. */
const inside = async (...args: string[]) =>
  (await must('docker', ['exec', name, 'node', 'start.ts', ...args])).trim();
const inspect = async (format: string) =>
  (await must('docker', ['inspect', '--format', format, name])).trim();

async function logs(): Promise<string> {
  const { stdout, stderr } = await shell('docker', ['logs', name]);
  return `${stdout}${stderr}`;
}

let url: string;
let headers: Record<string, string>;

afterAll(() => removeContainers(name));

test(
  'everything starts in one container, as an unprivileged user, and is healthy once it is ready',
  async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const published = ['--publish', `127.0.0.1:${port}:8400`, '--env', `PUBLIC_URL=${url}`];
    const often = ['--health-interval', '2s', '--health-retries', '60'];
    await must('docker', ['run', '--detach', '--name', name, ...often, ...published, imageOf('sandbox')]);
    const began = performance.now();
    await eventually(
      async () => {
        const [state, health] = (await inspect('{{.State.Status}} {{.State.Health.Status}}')).split(' ');
        const said = state === 'running' ? '' : await logs();
        expect({ state, health, said }).toEqual({ state: 'running', health: 'healthy', said: '' });
      },
      READY_WITHIN_MS,
      ASK_EVERY_MS,
    );
    process.stdout.write(`the sandbox was healthy after ${Math.round(performance.now() - began)} ms\n`);
    expect(await logs()).toContain('Quittance is ready');
    const [, ...processes] = (await must('docker', ['top', name, '-eo', 'pid,uid'])).trim().split('\n');
    expect(new Set(processes.map((line) => line.trim().split(/\s+/)[1]))).toEqual(new Set(['10001']));
    headers = { Authorization: `Bearer ${await inside('token')}`, 'Content-Type': 'application/json' };
  },
  patient(READY_WITHIN_MS) + MINUTES,
);

type Invoice = { id: string; amount: string; address: { address: string } };

async function invoice(asset: string): Promise<Invoice> {
  const order = { method: 'POST', headers, body: JSON.stringify({ asset, amount: 25 }) };
  const response = await fetch(`${url}/api/invoices`, order);
  expect(response.status).toBe(201);
  return ((await response.json()) as { data: Invoice }).data;
}

const isPaid = async ({ id }: Invoice) => {
  const response = await fetch(`${url}/api/invoices/${id}`, { headers });
  expect(await response.json()).toMatchObject({ status: 'paid', url: expect.stringContaining(url) });
};

test(
  'invoices that are made over the published port are paid by the container’s own command',
  async () => {
    const [ether, sol] = [await invoice('ETH'), await invoice('SOL')];
    expect(await inside('pay', ether.id)).toContain('ETH');
    await inside('pay', 'SOL', sol.address.address, sol.amount);
    for (const one of [ether, sol]) await eventually(() => isPaid(one), PAID_WITHIN_MS, ASK_EVERY_MS);
  },
  2 * patient(PAID_WITHIN_MS) + MINUTES,
);

test(
  'docker stop ends everything in order within its time',
  async () => {
    await must('docker', ['stop', '--time', `${patient(STOP_SECONDS)}`, name]);
    expect(await inspect('{{.State.ExitCode}}')).toBe('0');
    expect((await shell('docker', ['logs', '--tail', '1', name])).stdout.trim()).toBe('stopped');
  },
  patient(STOP_SECONDS * 1_000) + MINUTES,
);
