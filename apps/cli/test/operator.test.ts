import { beforeEach, expect, test } from '@jest/globals';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { prepareOperator } from '@quittance/shared/migrate-all';
import { mayMaintain } from '@quittance/testkit/databases';
import { refusal } from '@quittance/testkit/refusal';
import { operatorSuite, operatorUrl } from './quittance-in.ts';

/** What an operator may do, the audit log of it, and the payouts that it shows. */

const { database, quittance } = await operatorSuite();
const admin = database.openAsAdmin('operator');
const db = database.openAsAdmin('payouts');

test('an older release’s rights, functions and names are gone after the migration to this one', async () => {
  await admin.rows(`grant quittance_auditor to quittance_operator`);
  await admin.rows(`grant update on ledger.balances to quittance_operator`);
  await admin.rows(`create function operator.requeue(receiver text, event text, sender text, of_actor text)
    returns boolean language sql as 'select true'`);
  await admin.rows(`create function operator.requeue(of_receiver text, of_event text, of_actor text, not_taken_in boolean default false)
    returns text[] language sql as 'select null::text[]'`);
  await admin.rows(`create table operator.deeds (seq bigint generated always as identity primary key,
    at timestamptz not null default '2026-01-02T03:04:05Z', actor text not null, deed text not null, subject text not null)`);
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
    await admin.rows(
      `select action, subject, at = '2026-01-02T03:04:05Z' as as_it_was, written_by, to_regclass('operator.deeds') as former
       from gateway.audit_log where actor = 'cli:anna'`,
    ),
  ).toEqual([
    {
      action: 'halt',
      subject: 'ETH, halt 1',
      as_it_was: true,
      written_by: 'quittance_operator',
      former: null,
    },
  ]);
  expect(
    await admin.one(
      `select pg_has_role('quittance_operator', 'quittance_auditor', 'member') as member,
         has_any_column_privilege('quittance_operator', 'ledger.balances', 'update') as update`,
    ),
  ).toEqual({ member: false, update: false });
});

test('the operator’s role changes what its commands change and nothing else, and reads no secret', async () => {
  const logger = createLogger('test', 'silent');
  const operator = openDb({ url: operatorUrl(database), schema: 'operator', pool: 1, logger });
  try {
    for (const sql of [
      'select raw from payouts.transactions',
      'select encrypted_secret from webhooks.endpoint_secrets',
      'select hash from gateway.tokens',
      'set role quittance_auditor',
      'delete from auditor.outbox',
      'delete from auditor.halts',
      `update auditor.halts set asset = 'ETH'`,
      `update webhooks.deliveries set sequence = 1`,
    ]) {
      await expect(operator.rows(sql)).rejects.toMatchObject({ code: '42501' });
    }
    const tables = await admin.rows<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c
       where c.relkind in ('r', 'p', 'v') and c.relnamespace = any('{gateway, invoices, payouts, ledger, webhooks, auditor, operator}'::regnamespace[])
         and (has_any_column_privilege('quittance_operator', c.oid, 'insert, update')
           or has_table_privilege('quittance_operator', c.oid, 'delete, truncate, trigger, references')
           or ${mayMaintain(`'quittance_operator'`, 'c.oid')})
       order by 1`,
    );
    expect(tables.map(({ name }) => name)).toEqual([
      'auditor.discrepancies',
      'auditor.halts',
      'auditor.operator_funds',
      'auditor.outbox',
      'webhooks.deliveries',
      'webhooks.endpoint_queues',
    ]);
  } finally {
    await operator.close();
  }
});

const ANNA = { QUITTANCE_OPERATOR: 'Anna K.' };
/** But for the entry that the first test has taken over from an older release. */
const auditLog = () =>
  admin.rows(
    `select actor, action, subject from gateway.audit_log where actor <> 'cli:anna' order by position`,
  );

test('the audit log names the operator who pauses payouts, resumes them or resumes them by force', async () => {
  expect((await quittance(['payouts', 'pause', '--asset', 'ETH', '--reason', 'a drill'], ANNA)).code).toBe(0);
  expect((await quittance(['payouts', 'pause', '--asset', 'ETH', '--reason', 'again'], ANNA)).code).toBe(1);
  expect((await quittance(['payouts', 'resume', '--asset', 'ETH'], ANNA)).err).toMatch(/no node of ethereum/);
  expect(
    (await quittance(['payouts', 'resume', '--asset', 'ETH', '--force'], { QUITTANCE_OPERATOR: 'ben' })).code,
  ).toBe(0);
  const { seq } = await admin.one<{ seq: string }>('select seq from auditor.halts');
  expect(await auditLog()).toEqual([
    { actor: 'cli:Anna K.', action: 'halt', subject: `ETH, halt ${seq}` },
    { actor: 'cli:ben', action: 'resume by force', subject: `ETH, halt ${seq}` },
  ]);
});

test('payouts are not paused when the audit log cannot be written', async () => {
  const [before, halts] = [await auditLog(), await admin.rows('select * from auditor.halts')];
  await admin.rows('alter table gateway.audit_log add constraint audit_log_none check (false) not valid');
  try {
    expect((await quittance(['payouts', 'pause', '--asset', 'ETH', '--reason', 'x'], ANNA)).code).toBe(1);
  } finally {
    await admin.rows('alter table gateway.audit_log drop constraint audit_log_none');
  }
  expect([await auditLog(), await admin.rows('select * from auditor.halts')]).toEqual([before, halts]);
});

test('without QUITTANCE_OPERATOR the user of the process is named; an invalid name is refused', async () => {
  expect(
    (await quittance(['payouts', 'pause', '--asset', 'SOL', '--reason', 'x'], { QUITTANCE_OPERATOR: '' }))
      .code,
  ).toBe(0);
  expect((await auditLog()).at(-1)).toMatchObject({
    actor: expect.stringMatching(/^cli:\w+$/),
    action: 'halt',
  });
  const refused = await quittance(['payouts', 'resume', '--asset', 'SOL', '--force'], {
    QUITTANCE_OPERATOR: 'a\nb',
  });
  expect(refused).toMatchObject(refusal(/^QUITTANCE_OPERATOR is the name/));
});

const HOT = `0x${'a0'.repeat(20)}`;

beforeEach(async () => {
  for (const table of ['payments', 'transactions', 'payouts', 'wallets'])
    await db.rows(`delete from ${table}`);
});
/** A payout that was asked for so many minutes ago; with a nonce, one that is signed. */
async function payout(id: number, asset: string, status: string, minutes: number, nonce?: number) {
  await db.rows(
    `insert into payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status, tx_hash,
       created_at, completed_at)
     values ($1, $1, 'acc_1', $2, 5000000, 1, '0xrecipient', 3, $3, $4, now() - $5::int * interval '1 minute',
       case when $3 = 'mined' then now() end)`,
    [id, asset, status, nonce === undefined ? null : `0xhash${nonce}`, minutes],
  );
  if (nonce === undefined) return;
  const { group } = await db.one<{ group: string }>(
    `insert into transactions (id, replacement_group, chain, wallet, nonce, purpose, asset, amount, max_cost, min_confirmations, raw,
       tx_hash, fence, state, block_height, block_hash)
     overriding system value
     select drawn, drawn, 'ethereum', $1, $2, 'payout', $3, 5, 1, 3, '0xraw', $4, 1, $5, 1, '0xblock'
     from (select nextval(pg_get_serial_sequence('transactions', 'id')) as drawn) as id
     returning replacement_group as "group"`,
    [HOT, nonce, asset, `0xhash${nonce}`, status],
  );
  await db.rows(
    `insert into payments (payout_id, replacement_group, address, amount) values ($1, $2, '0xrecipient', 5)`,
    [id, group],
  );
}

test('payouts that are pending for longer than their chain takes are listed, the oldest first', async () => {
  expect(await quittance(['payouts', 'stalled'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^No payout/),
  });
  await payout(1, 'BTC', 'reserved', 170);
  await payout(2, 'ETH', 'broadcast', 31, 0);
  await payout(3, 'ETH', 'mined', 500, 1);
  await payout(4, 'SOL', 'reserved', 11);
  await payout(5, 'USDC_BASE', 'reserved', 29);
  const because = 'the asset is above its limit of an hour';
  await db.rows('update payouts set signing_refused_because = $1 where id = 4', [because]);
  const { code, out } = await quittance(['payouts', 'stalled']);
  expect(code).toBe(1);
  expect(out).toMatch(/^2 +ethereum +0\.000000000005 ETH +0xrecipient +broadcast /m);
  expect(out).toContain('2 payouts make no progress');
  expect((await quittance(['payouts', 'stalled', '--json'])).json()).toMatchObject([
    { id: '2', chain: 'ethereum', status: 'broadcast' },
    { id: '4', chain: 'solana', status: 'reserved', refused_because: because },
  ]);
  expect(out).toContain(`reserved, the signer refuses it: ${because}`);
  expect((await quittance(['payouts', 'show', '4'])).out).toContain(`refuses it for now: ${because}`);
});

test('a payout that the chain has dropped says so, and those that wait behind it name it', async () => {
  await db.rows(`insert into wallets (chain, address, role, next_nonce) values ('ethereum', $1, 'hot', 5)`, [
    HOT,
  ]);
  await payout(10, 'ETH', 'mined', 60, 3);
  await payout(11, 'ETH', 'broadcast', 1, 4);
  await payout(12, 'ETH', 'reserved', 1);
  await payout(13, 'ETH', 'mined', 90, 2);
  const waits = async (id: number) =>
    (await quittance(['payouts', 'show', String(id), '--json'])).json().waits_for;
  expect(await waits(11)).toBeNull();
  await db.rows('update transactions set missing_since = now() where nonce = 3');
  expect((await quittance(['payouts', 'show', '10'])).out).toMatch(/has DROPPED attempt 1 \(0xhash3\)/);
  const missing = { missing_nonce: '3', wallet: HOT, tx_hash: '0xhash3', payout_id: '10' };
  expect(await waits(11)).toMatchObject(missing);
  expect(await waits(12)).toMatchObject(missing);
  expect(await waits(13)).toBeNull();
  expect((await quittance(['payouts', 'show', '11'])).out).toMatch(
    /^Waits for +nonce 3 of 0xa0.*dropped 0xhash3 \(payout 10\)/m,
  );
});
