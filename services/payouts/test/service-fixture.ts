import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { connectBus } from '@quittance/shared/bus';
import { loadConfig } from '@quittance/shared/config';
import { openDb, type Queryable } from '@quittance/shared/db';
import { type EventKind, events } from '@quittance/shared/events';
import type { PayoutId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { anEventOf } from '@quittance/testkit/builders';
import { testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { signerOfPhrase } from '@quittance/testkit/scripted-signer';
import { configSchema } from '../src/config.ts';
import { type PayoutsOptions, type PayoutsService, startPayouts } from '../src/service.ts';
import { scriptedLedger } from './scripted-ledger.ts';
import { Client, environment, SEED, TestBoard } from './service-client.ts';

export const recipient = '0x52908400098527886E0F7030069857D2E4169EE7';
export const order = { asset: 'ETH', amount: 1.5, address: recipient };

/** A database, a NATS server and a ledger that the test scripts. Replicas of the service are started on them. */
async function openFixture() {
  const [database, nats] = await Promise.all([testDatabase(), testNats()]);
  const ledger = await scriptedLedger(nats.url);
  const board = new TestBoard();
  const url = database.urlOf('payouts');
  const db = openDb({ url, schema: 'payouts', pool: 2, logger: createLogger('test', 'silent') });
  const services: PayoutsService[] = [];
  let turn = 0;
  /** A merchant whose requests go to the replicas in turn. */
  const newClient = () => new Client(() => services[turn++ % services.length] as PayoutsService);
  const shop = newClient();
  const shown = async (id: number) => (await shop.get(`/api/payouts/${id}`)).body;
  const stopReplicas = () => Promise.all(services.splice(0).map((service) => service.stop()));
  return {
    nats,
    ledger,
    board,
    db,
    newClient,
    replicas: (): readonly PayoutsService[] => services,
    stopReplicas,
    /** A merchant that has no payouts when a test begins. */
    shop,
    shown,
    async start(settings: Record<string, string> = {}, options: PayoutsOptions = {}) {
      const all = loadConfig('payouts', configSchema, { ...environment(url, nats.url), ...settings });
      const fiatRates = { fresh: (currency: string) => board.fiatRates.get(currency) };
      const service = await startPayouts(
        { ...all, PORT: 0 },
        { workers: false, quotes: board, fiatRates, signer: signerOfPhrase(all.chains, SEED), ...options },
      );
      services.push(service);
      return {
        ...service,
        /** Before the others. */
        async stop() {
          services.splice(services.indexOf(service), 1);
          await service.stop();
        },
      };
    },
    /** A payout that the ledger covers. */
    async payout(asset: string, amount: string, to: string): Promise<{ id: number; to: string }> {
      const { status, body } = await shop.post({ asset, amount, address: to });
      expect(status).toBe(201);
      return { id: body.data.id, to };
    },
    /** Mines blocks until the payout has ended. */
    ended: (id: number, mine: () => Promise<unknown>) =>
      eventually(async () => {
        await mine();
        const payout = await shown(id);
        expect(payout.status).not.toBe('pending');
        return payout as { status: string; tx_hash: string; failed_reason: string };
      }, 60_000),
    /** Publishes an event, as the service does whose event it is. */
    async publish(kind: EventKind, id: string, payload: object): Promise<void> {
      const { from } = events[kind];
      const bus = await connectBus({ url: nats.url, service: from, logger: createLogger('test', 'silent') });
      const event = anEventOf(kind, payload, { id });
      try {
        const dedupe = `${id} ${Math.random()}`;
        expect(await bus.publish([{ kind, dedupe, body: JSON.stringify(event) }])).toEqual([true]);
      } finally {
        await bus.close();
      }
    },
    rowsOf: ({ account }: Client) =>
      db.rows<{ id: PayoutId; status: string }>(
        'select id, status from payouts where account_id = $1 order by seq',
        [account],
      ),
    /** Payouts of 1, 2 and more Ether, in this order. */
    async payouts(client: Client, count: number): Promise<number[]> {
      const ids: number[] = [];
      for (let i = 0; i < count; i++) ids.push((await client.post({ ...order, amount: i + 1 })).body.data.id);
      return ids;
    },
    /** Lets the time come at which the automatic payouts of a merchant run. */
    makeDue: ({ account }: Client) =>
      db.rows(
        `update automatic_payouts set next_run_at = now() - interval '1 second' where account_id = $1`,
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
      await stopReplicas();
      await ledger.close();
      await db.close();
      await nats.stop();
      await database.drop();
    },
  };
}

type ServiceFixture = Awaited<ReturnType<typeof openFixture>>;
export type RequestsFixture = ServiceFixture & { service: PayoutsService };

/** The fixture of a suite, which starts its replicas by itself. It has its members as soon as tests run. */
export function serviceSuite(prepare: () => Promise<unknown> = async () => undefined): ServiceFixture {
  const fixture = {} as ServiceFixture;
  beforeAll(async () => {
    Object.assign(fixture, await openFixture());
    await prepare();
  });
  afterAll(() => fixture.stop?.());
  return fixture;
}

/** Starts one replica without its workers. Before every test the ledger places holds, and the merchant is a new one. */
export function requestsSuite(): RequestsFixture {
  const fixture = serviceSuite(async () => {
    fixture.service = await fixture.start();
  }) as RequestsFixture;
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
  return fixture;
}

/** Stores a transaction of a payout that was mined and reverted. */
export async function storeReverted(db: Queryable, payout: number | string): Promise<void> {
  await db.rows(
    `with drawn as (select nextval(pg_get_serial_sequence('transactions', 'id')) as id),
     sent as (
       insert into transactions (id, replacement_group, chain, wallet, nonce, purpose, asset, amount, max_cost,
         min_confirmations, raw, tx_hash, state, fence, block_height, block_hash)
       overriding system value
       select id, id, 'ethereum', '0xhot', id, 'payout', 'ETH', 1, 1, 1, '0x', '0xreverted' || id, 'reverted', 1, 1, '0x1'
       from drawn returning replacement_group)
     insert into payments (payout_id, replacement_group, address, amount)
     select $1, replacement_group, '0x1', 1 from sent`,
    [payout],
  );
}
