import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type NatsHandle, startNats } from '@quittance/engines/nats';
import { eventually } from '@quittance/testkit/eventually';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { patient } from '@quittance/testkit/patience';
import { connectBus } from '../src/bus.ts';
import { busUrl } from '../src/bus-connection.ts';
import { busConfiguration } from '../src/bus-permissions.ts';
import { sleep } from '../src/clock.ts';
import { createLogger } from '../src/logger.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'quittance-nats-'));
let nats: NatsHandle;
let way: FaultProxy;
beforeAll(async () => {
  nats = await startNats({ dataDir, port: 0, config: busConfiguration(() => '"secret"', '"secret"') });
  way = await startFaultProxy(nats.url);
});
afterAll(async () => {
  await way?.close();
  await nats?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Each is given up after 3 s, and the next one begins 0.5 s later. */
const ATTEMPTS_GIVEN_UP = 2;
/** NATS closes a connection on which nobody has logged in after 2 s. */
const NATS_CLOSES_WITHIN_MS = 4_000;

test(
  'when a NATS that hung goes on, the attempts that were given up meanwhile end no connection',
  async () => {
    const lines: string[] = [];
    const bus = await connectBus({
      url: busUrl(way.url, 'ledger', 'secret'),
      service: 'ledger',
      logger: createLogger('test', 'warn', { write: (line) => lines.push(line) }),
    });
    way.set({ kind: 'black hole' });
    way.cut();
    const heldUp = way.fired();
    await eventually(() => expect(bus.connected()).toBe(false));
    // One that has just begun is in time: NATS has not closed it yet when it goes on.
    await eventually(() => expect(way.fired()).toBeGreaterThan(heldUp + ATTEMPTS_GIVEN_UP));
    way.set({ kind: 'pass' });
    await eventually(() => expect(bus.connected()).toBe(true));
    await sleep(NATS_CLOSES_WITHIN_MS);
    expect(lines.filter((line) => line.includes('the bus is gone'))).toHaveLength(1);
    expect(way.cut()).toBe(1);
    await bus.close();
  },
  patient(60_000),
);
