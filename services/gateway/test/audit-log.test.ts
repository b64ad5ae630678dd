import { describe, expect, test } from '@jest/globals';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { auditEntries, latestAuditEntries, verifyAuditLog } from '../src/operations/audit-log.ts';

const database = await suiteDatabase();
const admin = database.openAsAdmin('gateway');
const gateway = database.openAs('gateway', { pool: 8 });

const write = (actor: string, detail: string | null = null) =>
  gateway.rows(
    `insert into audit_log (actor, source, action, account_id, token_id, subject, detail)
     values ($1, '203.0.113.7', 'token.created', 'acc_1', null, null, $2)`,
    [actor, detail],
  );

/** Does what only somebody who owns the table can do, and undoes it. */
async function asOwner(change: string, look: () => Promise<void>): Promise<void> {
  await admin.rows('create table before as select * from audit_log');
  await admin.rows('alter table audit_log disable trigger user');
  try {
    await admin.rows(change);
    await look();
  } finally {
    await admin.rows('truncate audit_log');
    await admin.rows('insert into audit_log overriding system value select * from before');
    await admin.rows('alter table audit_log enable trigger user');
    await admin.rows('drop table before');
  }
}

describe('the audit log', () => {
  test('chains what many write at once, in the order of their commits', async () => {
    const { head: before } = await verifyAuditLog(admin);
    await Promise.all(Array.from({ length: 40 }, (_, i) => write(`writer ${i}`)));
    const { head, problem } = await verifyAuditLog(admin, before);
    expect([head.position, problem]).toEqual([before.position + 40n, undefined]);
    const batches: bigint[] = [];
    for await (const entries of auditEntries(admin)) batches.push(...entries.map(({ position }) => position));
    expect(batches.at(-1)).toBe(head.position);
    expect(batches).toEqual(batches.map((_, i) => BigInt(i + 1)));
  });

  test('chains what one transaction writes, and leaves no gap where another is undone', async () => {
    const { head: before } = await verifyAuditLog(admin);
    const undone = new Error('undone');
    await expect(
      gateway.transaction(async (trx) => {
        await trx.rows(`insert into audit_log (actor, action) values ('ann', 'token.created')`);
        throw undone;
      }),
    ).rejects.toBe(undone);
    await gateway.transaction(async (trx) => {
      await trx.rows(`insert into audit_log (actor, action) values ('ann', 'one'), ('ann', 'two')`);
      await trx.rows(`insert into audit_log (actor, action) values ('ann', 'three')`);
    });
    const { head, problem } = await verifyAuditLog(admin);
    expect([head.position, problem]).toEqual([before.position + 3n, undefined]);
    expect((await latestAuditEntries(admin, 3)).map(({ action }) => action)).toEqual(['one', 'two', 'three']);
  });

  test('has the same hash in Postgres and here, whatever is written', async () => {
    const texts = [
      '"',
      '\\',
      '\n\t\b\f\r',
      '\u0001\u001f\u007f\u0085\u2028',
      '/</script>',
      'é 🙂 \u{10ffff}',
      '',
    ];
    for (const text of texts) await write(text, text);
    await write('no detail');
    expect((await verifyAuditLog(admin)).problem).toBeUndefined();
  });

  test('says by which role an entry was written', async () => {
    await write('ann');
    expect((await latestAuditEntries(admin, 1))[0]).toMatchObject({
      actor: 'ann',
      source: '203.0.113.7',
      writtenBy: 'quittance_gateway',
    });
  });

  test.each([
    [
      'gives itself a place',
      `insert into audit_log (actor, action, position, hash) values ('a', 'b', 1, '')`,
    ],
    ['writes as another', `insert into audit_log (actor, action, written_by) values ('a', 'b', 'postgres')`],
    ['writes at another time', `insert into audit_log (actor, action, at) values ('a', 'b', now())`],
    ['changes an entry', `update audit_log set actor = 'nobody'`],
    ['deletes an entry', 'delete from audit_log'],
    ['empties it', 'truncate audit_log'],
    ['switches its triggers off', 'alter table audit_log disable trigger user'],
  ])('refuses that the role of the gateway %s', async (_what, sql) => {
    await expect(gateway.rows(sql)).rejects.toMatchObject({ code: '42501' });
  });

  test.each([`update audit_log set actor = 'nobody'`, 'delete from audit_log', 'truncate audit_log'])(
    'refuses its owner, while the triggers are there: %s',
    async (sql) => {
      await write('ann');
      await expect(admin.rows(sql)).rejects.toThrow('neither changed nor deleted');
    },
  );

  test('shows what its owner has changed without the triggers', async () => {
    for (const actor of ['ann', 'bob', 'carl']) await write(actor);
    const { head } = await verifyAuditLog(admin);
    const third = head.position - 1n;
    await asOwner(`update audit_log set actor = 'eve' where position = ${third}`, async () =>
      expect((await verifyAuditLog(admin)).problem).toEqual({ kind: 'broken', position: third }),
    );
    await asOwner(`delete from audit_log where position = ${third}`, async () =>
      expect((await verifyAuditLog(admin)).problem).toEqual({ kind: 'broken', position: third }),
    );
    await asOwner(`delete from audit_log where position = ${head.position}`, async () => {
      expect((await verifyAuditLog(admin)).problem).toBeUndefined();
      expect((await verifyAuditLog(admin, head)).problem).toEqual({ kind: 'head_missing' });
    });
    await asOwner(`insert into audit_log (actor, action) values ('eve', 'nothing')`, async () =>
      expect((await verifyAuditLog(admin)).problem).toEqual({ kind: 'unchained', count: 1 }),
    );
    expect(await verifyAuditLog(admin, head)).toEqual({ head });
  });
});
