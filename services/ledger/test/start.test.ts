import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { startNats } from '@quittance/engines/nats';
import { eventually } from '@quittance/testkit/eventually';
import { startFaultProxy } from '@quittance/testkit/fault-proxy';
import { patient } from '@quittance/testkit/patience';
import { runServiceMain } from '@quittance/testkit/service-main';
import { request } from 'undici';
import { aDeposit, aHold, anAccount, IDENTITY_SECRET, openLedger, settled } from './ledger-fixture.ts';

/** The service as its own process, as it runs in production. */

const { fixture } = openLedger({ replicas: 0 });

const settings = async (other: Record<string, string> = {}) => ({
  PORT: String(await freePort()),
  DATABASE_URL: fixture.config.DATABASE_URL.reveal(),
  NATS_URL: fixture.natsUrl,
  IDENTITY_SECRET,
  PUBLIC_URL: 'http://localhost:4000',
  PRICES: 'file:/nowhere/prices.json',
  ...other,
});

async function waitsFor(port: string): Promise<string[]> {
  const { body } = await request(`http://127.0.0.1:${port}/readyz`);
  return ((await body.json()) as { waits_for: string[] }).waits_for;
}

test('the ledger starts without a database and NATS, says what it waits for, and goes on when they come', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quittance-nats-'));
  const natsPort = await freePort();
  const database = await startFaultProxy(fixture.config.DATABASE_URL.reveal());
  database.set({ kind: 'refuse' });
  const env = await settings({ DATABASE_URL: database.url, NATS_URL: `nats://127.0.0.1:${natsPort}` });
  const { said, ended, kill } = runServiceMain('ledger', env);
  try {
    await eventually(async () => expect(await waitsFor(env.PORT)).toEqual(['the database', 'NATS']));
    await eventually(() => expect(said.out).toContain('waiting for the database'));
    database.set({ kind: 'pass' });
    await eventually(async () => expect(await waitsFor(env.PORT)).toEqual(['NATS']));
    await eventually(() => expect(said.out).toContain('the bus is not there yet'));
    const nats = await startNats({ dataDir, port: natsPort });
    await eventually(async () =>
      expect(await waitsFor(env.PORT)).toEqual(
        ['BTC', 'ETH', 'SOL', 'USDC_ERC20', 'USDC_SOL'].map((asset) => `a first rate of ${asset}`),
      ),
    );
    kill('SIGTERM');
    expect((await ended).code).toBe(0);
    await nats.stop();
  } finally {
    kill('SIGKILL');
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test(
  'deposits are credited once, and a hold decided once, when the ledger is killed at each step',
  async () => {
    const account = anAccount();
    const killedAt = async (point: string) => {
      const { ended, kill } = runServiceMain('ledger', await settings({ CRASH_AT: `${point}:1` }));
      const late = setTimeout(kill, patient(20_000), 'SIGTERM');
      const { signal } = await ended;
      clearTimeout(late);
      expect([point, signal]).toEqual([point, 'SIGKILL']);
    };
    // Each process that is killed leaves a deposit, which NATS delivers again when its acknowledgement is overdue.
    const killedWithADeposit = async (point: string) => {
      await fixture.send([settled(aDeposit(account, 100n))]);
      await killedAt(point);
    };
    await killedWithADeposit('consumer.before_commit');
    await killedWithADeposit('ledger.deposits_booked');
    expect(await fixture.balance(account)).toEqual(['0', '0', '0']);
    await killedWithADeposit('consumer.after_commit');
    expect(BigInt((await fixture.balance(account))[0])).toBeGreaterThan(0n);

    const hold = aHold(account, 60n);
    const answers: boolean[] = [];
    let killed = false;
    const deciding = killedAt('ledger.hold_decided').then(() => {
      killed = true;
    });
    await eventually(async () => {
      answers.push((await fixture.bus.ask('hold.place', hold)).known);
      expect(killed).toBe(true);
    });
    await deciding;
    expect(answers).not.toContain(true);
    expect((await fixture.balance(account))[1]).toBe('60');

    const { ended, kill } = runServiceMain('ledger', await settings());
    try {
      expect(
        await eventually(async () => {
          const asked = await fixture.bus.ask('hold.place', hold);
          if (!asked.known) throw new Error(asked.reason);
          return asked.reply.outcome;
        }),
      ).toBe('placed');
      await eventually(async () => expect(await fixture.balance(account)).toEqual(['240', '60', '0']));
      kill('SIGTERM');
      expect((await ended).code).toBe(0);
    } finally {
      kill('SIGKILL');
    }
  },
  patient(60_000),
);
