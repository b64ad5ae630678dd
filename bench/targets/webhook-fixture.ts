import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@quittance/engines/postgres';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { newAccountId, newInvoiceId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { serviceUrl } from '@quittance/shared/migrate';
import { migrateAll } from '@quittance/shared/migrate-all';
import { noTracer } from '@quittance/shared/traces';
import { anEventOf } from '@quittance/testkit/builders';
import { defaultEventTypes } from '@quittance/webhooks/domain/event-types';
import { createSecretEncryption } from '@quittance/webhooks/endpoint-secrets';
import { registerEndpoint } from '@quittance/webhooks/operations/endpoints';
import { type MerchantEvent, recordEvents } from '@quittance/webhooks/operations/events';
import type { Ports } from '@quittance/webhooks/ports';
import { startStub } from '../stub.ts';

const PASSWORD = 'bench';
const EVENTS_AT_ONCE = 100;

type Seen = { posts: number; ids: number };
export type Fixture = {
  ports: Omit<Ports, 'sender'>;
  endpoints: { account: MerchantEvent['payload']['account_id']; secret: string; url: string }[];
  postgresPid: number | undefined;
  /** What the receiver got since it was asked last. */
  seen(): Promise<Seen>;
  close(): Promise<void>;
};

export async function queueDeliveries({ ports, endpoints }: Fixture, count: number): Promise<void> {
  for (let from = 0; from < count; from += EVENTS_AT_ONCE) {
    const events = Array.from({ length: Math.min(EVENTS_AT_ONCE, count - from) }, (_, i) =>
      paid(endpoints[(from + i) % endpoints.length]?.account ?? ''),
    );
    await ports.db.transaction((trx) => recordEvents(trx, events, ports));
  }
  await ports.db.rows('analyze');
}

/** An event of the size that a real one has. */
function paid(account: string): MerchantEvent {
  const now = new Date();
  const invoice = {
    ...{ id: newInvoiceId(now), external_id: 'order-2026-000123', status: 'paid', asset: 'BTC' },
    ...{ amount: '0.00041667', amount_usd: '25.00', usd_rate: '60000.00', received: '0.00041667' },
    ...{ address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', min_confirmations: 2, confirmations: 2 },
    ...{ created_at: now.toISOString(), expires_at: now.toISOString(), paid_at: now.toISOString() },
    transactions: [
      { txid: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b', amount: '0.00041667' },
    ],
  };
  const payload = { account_id: account, resource_id: invoice.id, version: 1, data: invoice };
  return anEventOf('invoice.paid', payload, { at: now }) as unknown as MerchantEvent;
}

export async function openFixture(endpoints: number): Promise<Fixture> {
  const logger = createLogger('bench', 'error');
  const postgres = await startPostgres({
    dataDir: mkdtempSync(join(tmpdir(), 'quittance-bench-')),
    port: 0,
  });
  await migrateAll({ adminUrl: postgres.url, passwordOf: () => PASSWORD });
  const receiver = await startStub('receiver.ts');
  const db = openDb({
    url: serviceUrl(postgres.url, 'webhooks', PASSWORD),
    schema: 'webhooks',
    pool: 10,
    logger,
  });
  const ports = {
    ...{ db, clock: systemClock, random: randomBytes, logger, tracer: noTracer },
    encryption: createSecretEncryption('a key of the benchmark, of 32 or more', randomBytes),
  } as unknown as Fixture['ports'];

  const made = await Promise.all(
    Array.from({ length: endpoints }, async (_, i) => {
      const account = newAccountId(new Date());
      const url = `http://127.0.${1 + Math.floor(i / 250)}.${1 + (i % 250)}:${receiver.port}/hooks`;
      const registered = await registerEndpoint(ports, {
        account,
        url,
        eventTypes: [...defaultEventTypes],
        description: null,
      });
      if (!registered.ok) throw new Error(registered.refusal);
      return { account, url, secret: registered.value.secret };
    }),
  );
  return {
    ports,
    endpoints: made,
    postgresPid: postgres.pid,
    async seen() {
      return (await (await fetch(`http://127.0.0.1:${receiver.port}/seen`)).json()) as Seen;
    },
    async close() {
      await db.close();
      await receiver.engine.stop();
      await postgres.destroy();
    },
  };
}
