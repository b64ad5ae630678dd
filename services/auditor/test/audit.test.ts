import { describe, expect, it } from '@jest/globals';
import { stepAudit } from '../src/operations/check-books.ts';
import { auditSuite } from './audit-fixture.ts';

const fixture = await auditSuite();

describe('correct records', () => {
  it('are checked row by row first, then only new rows, and nothing is logged', async () => {
    expect(await fixture.check()).toBe(1);
    expect(await stepAudit(fixture.ports)).toBe(0);
    await fixture.check();
    await fixture.check();
    expect(await fixture.checks()).toEqual(['whole right', 'recent right', 'recent right']);
    expect(fixture.lines).toEqual([]);
    expect(await fixture.db.rows('select account_id, asset, bucket, amount from balance_snapshots')).toEqual([
      { account_id: 'acc_1', asset: 'ETH', bucket: 'available', amount: '100' },
    ]);
    await fixture.later('1 day');
    await stepAudit(fixture.ports);
    expect((await fixture.checks()).at(-1)).toBe('whole right');
  });

  it('are checked by the other replicas when the clock of one is wrong', async () => {
    const fast = new Date(Date.now() + 86_400_000);
    expect(await stepAudit(fixture.replica({ clock: { now: () => fast } }))).toBe(1);
    // It dies, and its lease runs out.
    await fixture.run('delete from auditor.leases');
    for (let i = 0; i < 2; i++) expect(await fixture.check()).toBe(1);
    // The database's own was put back.
    await fixture.run(`update auditor.checks set ended_at = now() + interval '1 day'`);
    expect(await stepAudit(fixture.ports)).toBe(1);
    expect(await fixture.checks()).toEqual(['whole right', 'recent right', 'recent right', 'whole right']);
  });

  it('are summed up as they grow, so that a check of new rows reads few of them', async () => {
    const until = async () =>
      BigInt(
        (await fixture.db.one<{ at: string }>('select transfer_seq as at from balance_snapshots_until')).at,
      );
    await fixture.check();
    const first = await until();
    const set = 'set session_replication_role = replica';
    await fixture.run(
      `${set}; update ledger.transfers set created_at = now() - interval '1 hour' where op = 'deposit:dep_2'`,
    );
    try {
      await fixture.check();
      expect((await until()) > first).toBe(true);
      expect(await fixture.db.rows('select asset, amount from balance_snapshots order by asset')).toEqual([
        { asset: 'ETH', amount: '100' },
        { asset: 'SOL', amount: '50' },
      ]);
      await fixture.check();
      expect(await fixture.checks()).toEqual(['whole right', 'recent right', 'recent right']);
    } finally {
      await fixture.run(`${set}; update ledger.transfers set created_at = now() where op = 'deposit:dep_2'`);
    }
  });

  it('are checked row by row when the balance snapshots cannot be read', async () => {
    await fixture.check();
    await fixture.run('revoke select on auditor.balance_snapshots from quittance_auditor');
    try {
      expect(await fixture.check()).toBe(1);
      expect(await fixture.checks()).toEqual(['whole right', 'whole right']);
      expect(fixture.lines.map(({ msg }) => msg)).toEqual([
        'new rows could not be checked, checking every row',
      ]);
    } finally {
      await fixture.run('grant select on auditor.balance_snapshots to quittance_auditor');
    }
  });

  it('of two replicas are checked by one', async () => {
    const done = await Promise.all([fixture.check(), stepAudit(fixture.replica())]);
    expect(done.sort()).toEqual([0, 1]);
    expect(await fixture.checks()).toHaveLength(1);
  });

  it('with a late event are reported, and nothing is halted', async () => {
    await fixture.run(`insert into invoices.outbox (id, kind, payload, created_at)
      values ('evt_late', 'deposit.settled', '{"deposit_id":"dep_9","asset":"ETH"}', now() - interval '10 minutes')`);
    try {
      for (let i = 0; i < 3; i++) await fixture.check();
      expect(await fixture.halts()).toEqual([]);
      expect((await fixture.checks()).every((one) => one.endsWith('right'))).toBe(true);
      expect(fixture.lines.map(({ level }) => level)).toEqual(['warn', 'error']);
      expect(await fixture.metricsText()).toContain(
        'quittance_reconciliation_discrepancies{invariant="I7",asset="ETH"} 2',
      );
    } finally {
      await fixture.run('delete from invoices.outbox');
    }
    await fixture.check();
    expect(await fixture.discrepancies()).toEqual([]);
  });
});

describe('a balance that is off by one unit', () => {
  it('halts the payouts of its asset once, within two checks, and of no other asset', async () => {
    await fixture.check();
    await fixture.off(1);
    await fixture.check();
    expect(await fixture.halts()).toEqual([]);
    expect(fixture.lines.map(({ level }) => level)).toEqual(['warn']);
    for (let i = 0; i < 3; i++) await fixture.check();
    expect(await fixture.checks()).toEqual([
      'whole right',
      'recent wrong',
      'again wrong',
      'recent wrong',
      'recent wrong',
    ]);
    expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: true }]);
    const what = 'acc_1 ETH available shows 101, its entries say 100';
    expect(await fixture.sentEvents()).toEqual([['asset.halted', 'ETH', what]]);
    const errors = fixture.lines.filter(({ level }) => level === 'error');
    expect(errors).toMatchObject([{ fields: { asset: 'ETH', discrepancies: [`I2 ${what}`] } }]);
    const text = await fixture.metricsText();
    expect(text).toContain('quittance_asset_halt_asked{asset="ETH"} 1');
    expect(text).toContain('quittance_asset_halt_asked{asset="SOL"} 0');
    // Payouts has not processed the event.
    expect(text).toContain('quittance_asset_halted{asset="ETH"} 0');
    expect(text).toContain('quittance_reconciliation_discrepancies{invariant="I2",asset="ETH"} 1');
  });

  it('halts nothing when it is corrected before the next check', async () => {
    await fixture.check();
    await fixture.off(1);
    await fixture.check();
    await fixture.off(-1);
    await fixture.check();
    await fixture.check();
    expect(await fixture.checks()).toEqual(['whole right', 'recent wrong', 'again right', 'recent right']);
    expect([await fixture.halts(), await fixture.discrepancies()]).toEqual([[], []]);
  });

  it('is found in an old entry by the daily check of every row', async () => {
    await fixture.check();
    await fixture.run(
      `update ledger.entries set amount = amount + 1 where asset = 'ETH' and bucket = 'custody'`,
    );
    try {
      await fixture.check();
      expect((await fixture.checks()).at(-1)).toBe('recent right');
      await fixture.later('1 day');
      await fixture.check();
      await fixture.check();
      expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: true }]);
    } finally {
      await fixture.run(
        `update ledger.entries set amount = amount - 1 where asset = 'ETH' and bucket = 'custody'`,
      );
    }
  });

  it('that only the balance snapshots of the auditor show is refuted by the check of every row, which computes them again', async () => {
    await fixture.check();
    await fixture.run('update auditor.balance_snapshots set amount = amount + 1');
    await fixture.check();
    await fixture.check();
    await fixture.check();
    expect(await fixture.checks()).toEqual(['whole right', 'recent wrong', 'again right', 'recent right']);
    expect(await fixture.halts()).toEqual([]);
  });
});

it.each([
  [
    "payouts.unswept_deposits where chain = 'x' and state <> 'swept' and reversed_at is null",
    'unswept_deposits_there',
  ],
  ["payouts.utxos where chain = 'x' and state <> 'spent' and reversed_at is null", 'utxos_there'],
  ["payouts.unswept_deposits where state = 'sweeping' and reversed_at is null", 'unswept_deposits_sweeping'],
  ["payouts.utxos where state = 'locked' and reversed_at is null", 'utxos_locked'],
  ["ledger.unresolved where state = 'open' group by account_id, asset", 'unresolved_open'],
  ["ledger.unresolved where state = 'returning'", 'unresolved_returning'],
])('a query that runs every minute reads open rows by an index: %s', async (rows, index) => {
  await fixture.run('set enable_seqscan = off');
  try {
    const plan = await fixture.admin.rows(`explain select count(*) from ${rows}`);
    expect(JSON.stringify(plan)).toContain(` ${index}`);
  } finally {
    await fixture.run('reset enable_seqscan');
  }
});

it('its role reads what it needs, neither signed bytes nor secrets, and changes nothing', async () => {
  const refused = /permission denied/;
  for (const sql of [
    'select raw from payouts.transactions',
    'select terms from payouts.transactions',
    'select data from webhooks.events',
    'select encrypted_secret from webhooks.endpoint_secrets',
    'select body from payouts.idempotency_keys',
    'select envelope from ledger.dead_letters',
    'select failure from invoices.dead_letters',
    'select envelope from payouts.dead_letters',
    'select envelope from webhooks.dead_letters',
    'select * from gateway.accounts',
    'update ledger.balances set available = 0',
    'insert into ledger.transfers (op) values (null)',
    'delete from payouts.outbox',
    'update operator_funds set amount = 0',
    'delete from operator_funds',
  ]) {
    expect([sql, await fixture.db.rows(sql).then(String, String)]).toEqual([
      sql,
      expect.stringMatching(refused),
    ]);
  }
  // Events in flight are money in motion, so the auditor reads them.
  for (const service of ['ledger', 'payouts', 'invoices', 'webhooks']) {
    await fixture.db.rows(`select payload from ${service}.outbox`);
    await fixture.db.rows(`select event_id from ${service}.dead_letters`);
  }
});
