import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asAdmin } from '@quittance/shared/database-roles';
import { serviceUrl } from '@quittance/shared/migrate';
import { migrateAll } from '@quittance/shared/migrate-all';
import { ensureDatabase } from '@quittance/stack/database';
import { unitsOf } from '@quittance/testkit/customer';
import { eventually } from '@quittance/testkit/eventually';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { fixture, sale } from './money-scenarios.ts';

/**
 * What an installation does that outgrows one Postgres (docs/sizing.md): each service has a database of its own. The auditor
 * is not there: it reads the tables of all.
 */

/** The gateway stays where its merchants are. A table of each, which a sale or a payout fills. */
const moved = {
  invoices: 'invoices.invoices',
  payouts: 'payouts.payouts',
  ledger: 'ledger.transfers',
  webhooks: 'webhooks.events',
  signer: 'signer.signatures',
} as const;
type Moved = keyof typeof moved;
const services = Object.keys(moved) as Moved[];

let quittance: Quittance;
let shopServer: Receiver;
let urls: Record<Moved, string>;

beforeAll(async () => {
  shopServer = await startReceiver();
  quittance = await startQuittance({ chains: [], checkBooks: false, blockEverySeconds: 1 });
  urls = await moveDatabases(quittance);
}, STACK_STARTED_WITHIN_MS);
afterAll(async () => {
  await quittance?.stop();
  await shopServer?.close();
});

async function moveDatabases({ stack }: Quittance): Promise<Record<Moved, string>> {
  const { databasePassword: password } = stack.secrets;
  const server = stack.engines.postgres.url;
  const migrated = 'only_migrations';
  const passwordOf = () => password;
  await migrateAll({ adminUrl: await ensureDatabase(server, migrated), passwordOf });
  const own = {} as Record<Moved, string>;
  for (const service of services) {
    own[service] = await ensureDatabase(server, `only_${service}`, migrated);
    // A copy leaves out who may connect.
    await migrateAll({ adminUrl: own[service], passwordOf });
  }
  await Promise.all(
    services.map(async (service) => {
      stack.settingsOf(service)['DATABASE_URL'] = serviceUrl(own[service], service, password);
      await stack.services[service].restart();
    }),
  );
  return own;
}

const rowsIn = (url: string, table: string): Promise<number> =>
  asAdmin(url, async (client) => {
    const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${table}`);
    return rows[0]?.count ?? 0;
  });

test('services with a database each are paid, pay out and tell the shop', async () => {
  const at = await fixture(quittance, 'ETH');
  const { status } = await at.shop.post('/api/webhooks', { url: `${shopServer.url}/hook` });
  expect(status).toBe(201);
  const paid = await sale(at, 'ETH', 100);
  const payout = await at.payout(unitsOf('ETH', '0.001'));
  await at.mined(payout.id);
  await at.arrived(payout.to, unitsOf('ETH', '0.001'));
  expect(paid).toBeGreaterThan(unitsOf('ETH', '0.001'));
  const told = () => shopServer.received.map(({ body }) => JSON.parse(body).event);
  await eventually(() =>
    expect(told()).toEqual(expect.arrayContaining(['invoice.paid', 'payout.completed'])),
  );

  for (const service of services) {
    for (const [other, table] of Object.entries(moved)) {
      const rows = await rowsIn(urls[service], table);
      expect([service, other, rows > 0]).toEqual([service, other, service === other]);
    }
    expect([service, await rowsIn(quittance.stack.adminUrl, moved[service])]).toEqual([service, 0]);
  }
});
