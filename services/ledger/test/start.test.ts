import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { startNats } from '@quittance/engines/nats';
import { eventually } from '@quittance/testkit/eventually';
import { request } from 'undici';
import {
  aDeposit,
  aHold,
  anAccount,
  IDENTITY_SECRET,
  type LedgerFixture,
  ledgerFixture,
} from './ledger-fixture.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

let fixture: LedgerFixture;
beforeAll(async () => {
  fixture = await ledgerFixture();
});
afterAll(() => fixture.stop());

/** The service as its own process, as it runs in production. */
function run(env: Record<string, string>) {
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal })),
  );
  const out = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    out.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    out.stderr += chunk;
  });
  /** Ends it as an operator would, once it runs. */
  async function stop() {
    await eventually(async () => expect(await waitsFor(env['PORT'])).not.toContain('NATS'));
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  }
  return { out, ended, stop, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}

async function settings(other: Record<string, string> = {}): Promise<Record<string, string>> {
  return {
    PORT: String(await freePort()),
    DATABASE_URL: fixture.config.DATABASE_URL.reveal(),
    NATS_URL: fixture.natsUrl,
    IDENTITY_SECRET,
    PUBLIC_URL: 'http://localhost:4000',
    PRICES: 'file:/nowhere/prices.json',
    ...other,
  };
}

async function waitsFor(port: string | undefined): Promise<string[]> {
  const { body } = await request(`http://127.0.0.1:${port}/readyz`);
  return ((await body.json()) as { waits_for: string[] }).waits_for;
}

describe('the service as a process', () => {
  it('names all that is wrong with its configuration and ends with 1', async () => {
    const { out, ended } = run({ PORT: '0', PRICES: 'cheap' });
    expect((await ended).code).toBe(1);
    for (const name of ['PORT', 'DATABASE_URL', 'NATS_URL', 'IDENTITY_SECRET', 'PUBLIC_URL', 'PRICES']) {
      expect(out.stderr).toContain(`${name}: `);
    }
  });

  it('starts without bus and database, says what it waits for, and goes on when they come', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'quittance-nats-'));
    const natsPort = await freePort();
    const env = await settings({ NATS_URL: `nats://127.0.0.1:${natsPort}` });
    const { out, ended, kill } = run(env);
    try {
      await eventually(async () => expect(await waitsFor(env['PORT'])).toEqual(['NATS']));
      await eventually(() => expect(out.stdout).toContain('the bus is not there yet'));
      const nats = await startNats({ dataDir, port: natsPort });
      await eventually(async () =>
        expect(await waitsFor(env['PORT'])).toEqual(
          ['BTC', 'ETH', 'SOL', 'USDC_ERC20', 'USDC_SOL'].map((asset) => `a first rate of ${asset}`),
        ),
      );
      kill('SIGTERM');
      expect((await ended).code).toBe(0);
      await nats.stop();
    } finally {
      kill('SIGKILL');
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('waits for a database that is not there', async () => {
    const env = await settings({ DATABASE_URL: 'postgres://ledger:x@127.0.0.1:1/quittance' });
    const { out, ended, kill } = run(env);
    await eventually(async () => expect(await waitsFor(env['PORT'])).toContain('the database'));
    await eventually(() => expect(out.stdout).toContain('waiting for the database'));
    kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  it.each([
    ['before a batch of events is committed', 'consumer.before_commit:1'],
    ['after it is committed, before it is acknowledged', 'consumer.after_commit:1'],
    ['between the postings and what is told of them', 'ledger.deposits_booked:1'],
  ])('killed %s: the deposit is credited once', async (_when, crashAt) => {
    const account = anAccount();
    const { ended } = run(await settings({ CRASH_AT: crashAt }));
    await fixture.send([{ kind: 'deposit.settled', payload: aDeposit(account, 100n) }]);
    expect((await ended).signal).toBe('SIGKILL');
    const second = run(await settings());
    // NATS delivers it again when its acknowledgement is overdue.
    await eventually(async () => expect(await fixture.balance(account)).toEqual(['100', '0', '0']), 50_000);
    await second.stop();
    expect(await fixture.discrepancies()).toEqual([]);
  });

  it('killed after deciding a hold, before answering: asked again it is the same hold', async () => {
    const account = anAccount();
    const first = run(await settings({ CRASH_AT: 'ledger.hold_decided:1' }));
    await fixture.send([{ kind: 'deposit.settled', payload: aDeposit(account, 100n) }]);
    await eventually(async () => expect((await fixture.balance(account))[0]).toBe('100'));
    const hold = aHold(account, 60n);
    expect((await fixture.bus.ask('hold.place', hold)).known).toBe(false);
    expect((await first.ended).signal).toBe('SIGKILL');
    expect(await fixture.balance(account)).toEqual(['40', '60', '0']);
    const second = run(await settings());
    expect(await eventuallyKnown(hold)).toBe('placed');
    expect(await fixture.balance(account)).toEqual(['40', '60', '0']);
    await second.stop();
  });
});

const eventuallyKnown = (hold: ReturnType<typeof aHold>) =>
  eventually(async () => {
    const asked = await fixture.bus.ask('hold.place', hold);
    if (!asked.known) throw new Error(asked.reason);
    return asked.reply.outcome;
  });
