import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { startNats } from '@quittance/engines/nats';
import { gatewayKeys } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import { startFaultProxy } from '@quittance/testkit/fault-proxy';
import { runServiceMain } from '@quittance/testkit/service-main';
import { request } from 'undici';
import { openLedger } from './ledger-fixture.ts';

/** The service as its own process, as it runs in production. */

const { fixture } = openLedger({ replicas: 0 });

async function waitsFor(port: string): Promise<string[]> {
  const { body } = await request(`http://127.0.0.1:${port}/readyz`);
  return ((await body.json()) as { waits_for: string[] }).waits_for;
}

test('the ledger starts without a database and NATS, says what it waits for, and goes on when they come', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quittance-nats-'));
  const natsPort = await freePort();
  const database = await startFaultProxy(fixture.config.DATABASE_URL.reveal());
  database.set({ kind: 'refuse' });
  const env = {
    PORT: String(await freePort()),
    DATABASE_URL: database.url,
    NATS_URL: `nats://127.0.0.1:${natsPort}`,
    GATEWAY_PUBLIC_KEY: gatewayKeys.publicKey,
    PUBLIC_URL: 'http://localhost:4000',
    PRICES: 'file:/nowhere/prices.json',
  };
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
