import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { openDb } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { scriptedLedger } from './scripted-ledger.ts';
import { Client, environment, startService, TestBoard } from './service-client.ts';

export const recipient = '0x52908400098527886E0F7030069857D2E4169EE7';
export const order = { asset: 'ETH', amount: 1.5, address: recipient };

/** The service without its workers, on a database and a NATS of the suite, and a ledger that the test scripts. */
async function startRequests() {
  const [database, nats] = await Promise.all([testDatabase(), testNats()]);
  const ledger = await scriptedLedger(nats.url);
  const board = new TestBoard();
  const url = database.urlOf('payouts');
  const service = await startService(environment(url, nats.url), { quotes: board });
  const db = openDb({ url, schema: 'payouts', pool: 2, logger: createLogger('test', 'silent') });
  const newClient = () => new Client(() => service);
  return {
    nats,
    ledger,
    board,
    service,
    db,
    newClient,
    /** A merchant that has no payouts when a test begins. */
    shop: newClient(),
    rowsOf: ({ account }: Client) =>
      db.rows<{ id: PayoutId; status: string }>(
        'select id, status from payouts where account_id = $1 order by seq',
        [account],
      ),
    /** The kinds of the events about a payout, in order. */
    async published(id: PayoutId): Promise<string[]> {
      const rows = await db.rows<{ kind: string }>(
        `select kind from outbox where payload->>'payout_id' = $1 or payload->>'resource_id' = $1 order by seq`,
        [id],
      );
      return rows.map(({ kind }) => kind);
    },
    async stop() {
      await service.stop();
      await ledger.close();
      await db.close();
      await nats.stop();
      await database.drop();
    },
  };
}

export type RequestsFixture = Awaited<ReturnType<typeof startRequests>>;

/** Starts the service for a suite. Before every test the ledger places holds, and the merchant is a new one. */
export function requestsSuite(use: (fixture: RequestsFixture) => void): void {
  let fixture: RequestsFixture;
  beforeAll(async () => {
    fixture = await startRequests();
    use(fixture);
  });
  beforeEach(() => {
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    fixture.ledger.asked.length = 0;
    fixture.board.isFresh = true;
    fixture.shop = fixture.newClient();
  });
  afterEach(async () => {
    await eventually(async () =>
      expect(await fixture.db.rows('select 1 from outbox where sent_at is null')).toEqual([]),
    );
  });
  afterAll(() => fixture?.stop());
}
