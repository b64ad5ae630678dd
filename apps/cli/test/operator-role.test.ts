import { expect, test } from '@jest/globals';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { prepareOperator } from '@quittance/shared/migrate-all';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { operatorUrl } from './quittance-in.ts';

const database = await suiteDatabase();
const admin = database.openAsAdmin('operator');

test('an older release’s rights, functions and names are gone after the migration to this one', async () => {
  await admin.rows(`grant quittance_auditor to quittance_operator`);
  await admin.rows(`grant update on ledger.balances to quittance_operator`);
  await admin.rows(`create function operator.requeue(receiver text, event text, sender text, of_actor text)
    returns boolean language sql as 'select true'`);
  await admin.rows(`create function operator.requeue(of_receiver text, of_event text, of_actor text, not_taken_in boolean default false)
    returns text[] language sql as 'select null::text[]'`);
  await admin.rows(`alter table operator.audit_log rename to deeds`);
  await admin.rows(`alter table operator.deeds rename column action to deed`);
  await admin.rows(`alter index operator.audit_log_pkey rename to deeds_pkey`);
  await admin.rows(`alter sequence operator.audit_log_seq_seq rename to deeds_seq_seq`);
  await admin.rows(
    `insert into operator.deeds (actor, deed, subject) values ('cli:anna', 'halt', 'ETH, halt 1')`,
  );
  await prepareOperator(database.adminUrl, undefined);
  expect(
    await admin.rows(
      `select proname from pg_proc where proname = 'requeue' and pronamespace = 'operator'::regnamespace`,
    ),
  ).toEqual([]);
  expect(
    await admin.rows(`delete from operator.audit_log where actor = 'cli:anna' returning action, subject`),
  ).toEqual([{ action: 'halt', subject: 'ETH, halt 1' }]);
  expect(
    await admin.one(
      `select pg_has_role('quittance_operator', 'quittance_auditor', 'member') as member,
         has_any_column_privilege('quittance_operator', 'ledger.balances', 'update') as update`,
    ),
  ).toEqual({ member: false, update: false });
});

test('the operator’s role changes what its commands change and nothing else, and reads no secret', async () => {
  const logger = createLogger('test', 'silent');
  const db = openDb({ url: operatorUrl(database), schema: 'operator', pool: 1, logger });
  try {
    for (const sql of [
      'delete from payouts.dead_letters',
      'select raw from payouts.transactions',
      'select encrypted_secret from webhooks.endpoint_secrets',
      'select hash from gateway.tokens',
      'update ledger.balances set available = 1',
      'insert into payouts.outbox (id, kind, payload) values (1, 2, null)',
      'insert into operator.audit_log (actor, action, subject) values (1, 2, 3)',
      'update invoices.cursors set height = 1',
      'insert into operator.kinds (kind, sender, receiver) values (1, 2, 3)',
      'set role quittance_auditor',
      `update auditor.checks set was_right = true`,
      'truncate auditor.balance_snapshots',
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
      'auditor.discrepancies',
      'auditor.halts',
      'auditor.outbox',
      'webhooks.deliveries',
      'webhooks.endpoint_queues',
    ]);
  } finally {
    await db.close();
  }
});
