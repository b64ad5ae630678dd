import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectBus } from '@quittance/shared/bus';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { startMessenger } from '@quittance/shared/messenger';
import { announce } from '@quittance/shared/outbox';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { prepareOperator } from '../src/operator-role.ts';
import { operatorOf } from './quittance-in.ts';

const logger = createLogger('test', 'silent');
let database: TestDatabase;
let quittance: ReturnType<typeof operatorOf>;
let payouts: Db;
let auditor: Db;
let admin: Db;

beforeAll(async () => {
  database = await testDatabase();
  quittance = operatorOf(database);
  const open = (url: string, schema: string) => openDb({ url, schema, pool: 2, logger });
  payouts = open(database.urlOf('payouts'), 'payouts');
  auditor = open(database.urlOf('auditor'), 'auditor');
  admin = open(database.adminUrl, 'operator');
});
afterAll(async () => {
  await Promise.all([payouts, auditor, admin].map((db) => db?.close()));
  await database?.drop();
});

test('what was parked is listed with its reason and, once that is mended, sent again and taken in', async () => {
  expect((await quittance(['parked', 'list'])).out).toMatch(/^Nothing is parked/);
  await admin.rows(`create function payouts.refuse() returns trigger language plpgsql as $$
    begin raise exception 'no halt today'; end $$`);
  await admin.rows(
    'create trigger refuse before insert on payouts.halted_assets for each row execute function payouts.refuse()',
  );
  const nats = await testNats();
  const bus = {
    ofAuditor: await connectBus({ url: nats.url, service: 'auditor', logger }),
    ofPayouts: await connectBus({ url: nats.url, service: 'payouts', logger }),
  };
  const taken: string[] = [];
  const sender = startMessenger({ db: auditor, bus: bus.ofAuditor, service: 'auditor', logger });
  const receiver = startMessenger({
    db: payouts,
    bus: bus.ofPayouts,
    service: 'payouts',
    logger,
    handlers: {
      'asset.halted': async (trx, events) => {
        await trx.rows(`insert into halted_assets (asset, halt) values ('ETH', 1)`);
        taken.push(...events.map(({ id }) => id));
      },
    },
  });
  try {
    await auditor.transaction((trx) =>
      announce(trx, [{ kind: 'asset.halted', payload: { asset: 'ETH', halt: '1', breaches: [] } }]),
    );
    const [parked] = await eventually(async () => {
      const found = (await quittance(['parked', 'list', '--json'])).json();
      expect(found).toHaveLength(1);
      return found;
    }, 60_000);
    expect(parked).toMatchObject({
      service: 'payouts',
      kind: 'asset.halted',
      failure: expect.stringContaining('no halt today'),
      can_be_requeued: true,
    });
    expect((await quittance(['parked', 'list'])).out).toContain(parked.event);

    await admin.rows('drop trigger refuse on payouts.halted_assets');
    const again = await quittance(['parked', 'requeue', parked.event]);
    expect([again.code, again.out]).toEqual([0, expect.stringMatching(/^Sent again by auditor/)]);
    await eventually(() => expect(taken).toEqual([parked.event]), 30_000);
    expect((await quittance(['parked', 'list', '--json'])).json()).toEqual([]);
    expect(await admin.rows('select deed, subject from operator.deeds')).toEqual([
      { deed: 'requeue', subject: `payouts ${parked.event}` },
    ]);
  } finally {
    await Promise.all([sender.stop(), receiver.stop()]);
    await Promise.all([bus.ofAuditor.close(), bus.ofPayouts.close()]);
    await nats.stop();
    await admin.rows(`delete from payouts.halted_assets`);
  }
});

test('what its sender has forgotten is told again as it was; what nobody here says is left alone', async () => {
  await admin.rows(
    `insert into payouts.parked (event_id, kind, envelope, failure) values
       ('evt_old', 'asset.resumed', '{"id":"evt_old","kind":"asset.resumed","created_at":"2026-01-02T03:04:05.000Z","request_id":"req_1","payload":{"asset":"ETH","halt":"7"}}', 'long ago'),
       ('unreadable_0', 'evt.x', '{"id":"evt_true"}', 'forged')`,
  );
  const { code, out } = await quittance(['parked', 'requeue', '--all']);
  expect(code).toBe(0);
  expect(out).toMatch(/evt_old asset\.resumed for payouts[\s\S]*Left as they are[\s\S]*payouts unreadable_0/);
  expect(
    await admin.rows(
      `select kind, payload, request_id, created_at, sent_at from auditor.outbox where id = 'evt_old'`,
    ),
  ).toEqual([
    {
      kind: 'asset.resumed',
      payload: { asset: 'ETH', halt: '7' },
      request_id: 'req_1',
      created_at: new Date('2026-01-02T03:04:05.000Z'),
      sent_at: null,
    },
  ]);
  const forged = await quittance(['parked', 'requeue', 'unreadable_0']);
  expect([forged.code, forged.err]).toEqual([1, expect.stringMatching(/cannot be sent again.*forged/)]);
  await admin.rows(`delete from payouts.parked`);
  await admin.rows(`delete from auditor.outbox where id = 'evt_old'`);
});

test.each([
  [['parked', 'requeue'], /Which one\?/],
  [['parked', 'requeue', 'evt_1', '--all'], /Which one\?/],
  [['parked', 'requeue', 'evt_1'], /"evt_1" is not parked/],
])('%j is refused', async (args, message) => {
  expect(await quittance(args)).toMatchObject({ code: 1, out: '', err: expect.stringMatching(message) });
});

test('an older release’s rights are gone after the migration to this one', async () => {
  await admin.rows(`grant quittance_auditor to quittance_operator`);
  await admin.rows(`grant update on ledger.balances to quittance_operator`);
  await prepareOperator(database.adminUrl, undefined);
  expect(
    await admin.one(
      `select pg_has_role('quittance_operator', 'quittance_auditor', 'member') as member,
         has_any_column_privilege('quittance_operator', 'ledger.balances', 'update') as update`,
    ),
  ).toEqual({ member: false, update: false });
});

test('the operator’s role changes what its commands change and nothing else, and reads no secret', async () => {
  const db = openDb({ url: operatorUrl(), schema: 'operator', pool: 1, logger });
  try {
    for (const sql of [
      'delete from payouts.parked',
      'select raw from payouts.transactions',
      'select sealed from webhooks.endpoint_secrets',
      'select hash from gateway.tokens',
      'update ledger.balances set available = 1',
      'insert into payouts.outbox (id, kind, payload) values (1, 2, null)',
      'insert into operator.deeds (actor, deed, subject) values (1, 2, 3)',
      'update invoices.cursors set height = 1',
      'set role quittance_auditor',
      `update auditor.checks set was_right = true`,
      'truncate auditor.sums',
      'delete from auditor.outbox',
      'delete from auditor.halts',
      `update auditor.halts set asset = 'ETH'`,
      'insert into auditor.inbox (event_id) values (1)',
      `update webhooks.deliveries set sequence = 1`,
    ]) {
      await expect(db.rows(sql)).rejects.toMatchObject({ code: '42501' });
    }
    const tables = await admin.rows<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c
       where c.relkind in ('r', 'p', 'v') and c.relnamespace = any('{gateway, invoices, payouts, ledger, webhooks, auditor, operator}'::regnamespace[])
         and (has_any_column_privilege('quittance_operator', c.oid, 'insert, update')
           or has_table_privilege('quittance_operator', c.oid, 'delete, truncate, trigger, references, maintain'))
       order by 1`,
    );
    expect(tables.map(({ name }) => name)).toEqual([
      'auditor.breaches',
      'auditor.halts',
      'auditor.outbox',
      'webhooks.deliveries',
      'webhooks.lanes',
    ]);
  } finally {
    await db.close();
  }
});

const operatorUrl = () => database.urlOf('ledger').replace('quittance_ledger', 'quittance_operator');
