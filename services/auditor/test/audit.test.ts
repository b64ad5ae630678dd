import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BalanceSnapshots } from '@quittance/reconciliation/balance-snapshots';
import type { ReconciledChain } from '@quittance/reconciliation/chain-records';
import type { Db } from '@quittance/shared/db';
import { openDb } from '@quittance/shared/db';
import { createLogger, type Logger } from '@quittance/shared/logger';
import { Secret } from '@quittance/shared/secret';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { ScriptedEvmNode } from '@quittance/testkit/scripted-evm-node';
import { auditorMetrics } from '../src/metrics.ts';
import { stepAudit } from '../src/operations/check-books.ts';
import { resendHalts } from '../src/operations/halts.ts';
import { resumePayouts } from '../src/operations/resume-payouts.ts';
import type { Ports } from '../src/ports.ts';

/** The auditor with its own role, stepped by the test, over correct records into which a test puts one discrepancy. */

let database: TestDatabase;
let admin: Db;
let db: Db;
let now: Date;
let ports: Ports;
const lines: { level: string; msg: string; fields: Record<string, unknown> }[] = [];

const PAID = `0x${'7'.repeat(64)}`;
const ADDRESS = `0x${'2'.repeat(40)}`;
const rightBooks = `
  insert into ledger.balances (account_id, asset, available) values ('acc_1', 'ETH', 100), ('acc_1', 'SOL', 50);
  insert into ledger.transfers (op, kind, account_id, asset, amount, created_at) values
    ('deposit:dep_1', 'deposit', 'acc_1', 'ETH', 100, now() - interval '1 day'),
    ('deposit:dep_2', 'deposit', 'acc_1', 'SOL', 50, now());
  insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
    select seq, account_id, 'available', asset, amount from ledger.transfers union all
    select seq, null, 'custody', asset, -amount from ledger.transfers;
  insert into invoices.invoices (id, account_id, asset, chain, amount_fiat, usd_rate, quote, amount_due,
      min_confirmations, dust, status, created_at, paid_at, address, derivation_index)
    values ('inv_1', 'acc_1', 'ETH', 'ethereum', 1000, 10, '{}', 100, 3, 1, 'paid', now(), now(), '${ADDRESS}', 0),
           ('inv_2', 'acc_1', 'SOL', 'solana', 1000, 10, '{}', 50, 1, 1, 'paid', now(), now(), 'A', 0);
  insert into invoices.deposits (id, chain, outpoint, invoice_id, asset, address, derivation_index, amount,
      tx_hash, output_index, block_height, block_hash, first_seen_at, min_confirmations, state, settled_at, disposition,
      credited_at)
    values ('dep_1', 'ethereum', '${PAID}:0', 'inv_1', 'ETH', '${ADDRESS}', 0, 100, '${PAID}', 0, 1, '0xb', now(), 3,
             'settled', now(), 'credit', now()),
           ('dep_2', 'solana', 't:0', 'inv_2', 'SOL', 'A', 0, 50, 't', 0, 1, 'b', now(), 1, 'settled', now(), 'credit', now())`;

async function run(sql: string): Promise<void> {
  for (const one of sql.split(';')) if (one.trim() !== '') await admin.rows(one);
}

beforeAll(async () => {
  database = await testDatabase();
  const logger = createLogger('test', 'silent');
  admin = openDb({ url: database.adminUrl, schema: 'public', pool: 1, logger });
  db = openDb({ url: database.urlOf('auditor'), schema: 'auditor', pool: 3, logger });
  await run(`set session_replication_role = replica; ${rightBooks}`);
});
afterAll(async () => {
  await run(
    "set session_replication_role = replica; update ledger.balances set available = case asset when 'ETH' then 100 else 50 end",
  );
  await Promise.all([admin.close(), db.close()]);
  await database.drop();
});
beforeEach(async () => {
  await run(
    `delete from auditor.checks; delete from auditor.discrepancies; delete from auditor.halts; delete from auditor.outbox;
     delete from auditor.leases; delete from auditor.balance_snapshots; delete from auditor.balance_snapshots_until`,
  );
  lines.length = 0;
  now = new Date();
  ports = replica();
});

function keepingLogger(): Logger {
  const logger = createLogger('auditor', 'silent');
  for (const level of ['info', 'warn', 'error'] as const) {
    logger[level] = ((fields: Record<string, unknown>, msg: string) =>
      lines.push({ level, msg, fields })) as never;
  }
  return logger;
}

const replica = (given: Partial<Ports> = {}): Ports => ({
  db,
  slowDb: db,
  clock: { now: () => now },
  logger: keepingLogger(),
  chains: [],
  memory: new Map(),
  settings: {
    replica: randomUUID(),
    checkEveryMs: 60_000,
    chainsEveryMs: 60_000,
    wholeEveryMs: 24 * 3_600_000,
    chainDays: 2,
    gracePeriodSeconds: 60,
  },
  wakeRelay: () => {},
  ...given,
});

/** Makes the stored checks older, because the database's clock dates them. */
const later = (by: string) =>
  run(
    `update auditor.checks set began_at = began_at - interval '${by}', ended_at = ended_at - interval '${by}'`,
  );

/** A minute later. */
async function check(of = ports): Promise<number> {
  now = new Date(now.getTime() + 60_000);
  await later('1 minute');
  return await stepAudit(of);
}

const halts = () =>
  db.rows<{ asset: string; open: boolean }>(
    'select asset, resumed_at is null as open from halts order by seq',
  );
const sentEvents = async () =>
  (
    await db.rows<{ kind: string; payload: { asset: string; halt: string; breaches?: { what: string }[] } }>(
      'select kind, payload from outbox order by seq',
    )
  ).map(({ kind, payload }) => [kind, payload.asset, ...(payload.breaches ?? []).map(({ what }) => what)]);
const checks = async () =>
  (
    await db.rows<{ scope: string; was_right: boolean }>('select scope, was_right from checks order by seq')
  ).map(({ scope, was_right }) => `${scope} ${was_right ? 'right' : 'wrong'}`);
const discrepancies = () =>
  db.rows<{ invariant: string; subject: string }>('select * from discrepancies order by 1, 2');
const metricsText = () =>
  auditorMetrics(
    { db, logger: keepingLogger(), cachedMs: 0 },
    { ...ports, settings: { chainsEveryMs: 60_000 } },
  ).text();

const off = (units: number, asset = 'ETH') =>
  run(`update ledger.balances set available = available + ${units} where asset = '${asset}'`);

describe('correct records', () => {
  it('are checked row by row first, then only new rows, and nothing is logged', async () => {
    expect(await check()).toBe(1);
    expect(await stepAudit(ports)).toBe(0);
    await check();
    await check();
    expect(await checks()).toEqual(['whole right', 'recent right', 'recent right']);
    expect(lines).toEqual([]);
    expect(await db.rows('select account_id, asset, bucket, amount from balance_snapshots')).toEqual([
      { account_id: 'acc_1', asset: 'ETH', bucket: 'available', amount: '100' },
    ]);
    await later('1 day');
    await stepAudit(ports);
    expect((await checks()).at(-1)).toBe('whole right');
  });

  it('are checked by the other replicas when the clock of one is wrong', async () => {
    const fast = new Date(Date.now() + 86_400_000);
    expect(await stepAudit(replica({ clock: { now: () => fast } }))).toBe(1);
    // It dies, and its lease runs out.
    await run('delete from auditor.leases');
    for (let i = 0; i < 2; i++) expect(await check()).toBe(1);
    // The database's own was put back.
    await run(`update auditor.checks set ended_at = now() + interval '1 day'`);
    expect(await stepAudit(ports)).toBe(1);
    expect(await checks()).toEqual(['whole right', 'recent right', 'recent right', 'whole right']);
  });

  it('are summed up as they grow, so that a check of new rows reads few of them', async () => {
    const until = async () =>
      BigInt((await db.one<{ at: string }>('select transfer_seq as at from balance_snapshots_until')).at);
    await check();
    const first = await until();
    const set = 'set session_replication_role = replica';
    await run(
      `${set}; update ledger.transfers set created_at = now() - interval '1 hour' where op = 'deposit:dep_2'`,
    );
    try {
      await check();
      expect((await until()) > first).toBe(true);
      expect(await db.rows('select asset, amount from balance_snapshots order by asset')).toEqual([
        { asset: 'ETH', amount: '100' },
        { asset: 'SOL', amount: '50' },
      ]);
      await check();
      expect(await checks()).toEqual(['whole right', 'recent right', 'recent right']);
    } finally {
      await run(`${set}; update ledger.transfers set created_at = now() where op = 'deposit:dep_2'`);
    }
  });

  it('are checked row by row when the balance snapshots cannot be read', async () => {
    await check();
    await run('revoke select on auditor.balance_snapshots from quittance_auditor');
    try {
      expect(await check()).toBe(1);
      expect(await checks()).toEqual(['whole right', 'whole right']);
      expect(lines.map(({ msg }) => msg)).toEqual(['new rows could not be checked, checking every row']);
    } finally {
      await run('grant select on auditor.balance_snapshots to quittance_auditor');
    }
  });

  it('of two replicas are checked by one', async () => {
    const done = await Promise.all([check(), stepAudit(replica())]);
    expect(done.sort()).toEqual([0, 1]);
    expect(await checks()).toHaveLength(1);
  });

  it('with a late event are reported, and nothing is halted', async () => {
    await run(`insert into invoices.outbox (id, kind, payload, created_at)
      values ('evt_late', 'deposit.settled', '{"deposit_id":"dep_9","asset":"ETH"}', now() - interval '10 minutes')`);
    try {
      for (let i = 0; i < 3; i++) await check();
      expect(await halts()).toEqual([]);
      expect((await checks()).every((one) => one.endsWith('right'))).toBe(true);
      expect(lines.map(({ level }) => level)).toEqual(['warn', 'error']);
      expect(await metricsText()).toContain(
        'quittance_reconciliation_discrepancies{invariant="I7",asset="ETH"} 2',
      );
    } finally {
      await run('delete from invoices.outbox');
    }
    await check();
    expect(await discrepancies()).toEqual([]);
  });
});

describe('a balance that is off by one unit', () => {
  it('halts the payouts of its asset once, within two checks, and of no other asset', async () => {
    await check();
    await off(1);
    try {
      await check();
      expect(await halts()).toEqual([]);
      expect(lines.map(({ level }) => level)).toEqual(['warn']);
      for (let i = 0; i < 3; i++) await check();
      expect(await checks()).toEqual([
        'whole right',
        'recent wrong',
        'again wrong',
        'recent wrong',
        'recent wrong',
      ]);
      expect(await halts()).toEqual([{ asset: 'ETH', open: true }]);
      const what = 'acc_1 ETH available shows 101, its entries say 100';
      expect(await sentEvents()).toEqual([['asset.halted', 'ETH', what]]);
      const errors = lines.filter(({ level }) => level === 'error');
      expect(errors).toMatchObject([{ fields: { asset: 'ETH', discrepancies: [`I2 ${what}`] } }]);
      const text = await metricsText();
      expect(text).toContain('quittance_asset_halt_asked{asset="ETH"} 1');
      expect(text).toContain('quittance_asset_halt_asked{asset="SOL"} 0');
      // Payouts has not processed the event.
      expect(text).toContain('quittance_asset_halted{asset="ETH"} 0');
      expect(text).toContain('quittance_reconciliation_discrepancies{invariant="I2",asset="ETH"} 1');
    } finally {
      await off(-1);
    }
  });

  it('halts nothing when it is corrected before the next check', async () => {
    await check();
    await off(1);
    await check();
    await off(-1);
    await check();
    await check();
    expect(await checks()).toEqual(['whole right', 'recent wrong', 'again right', 'recent right']);
    expect([await halts(), await discrepancies()]).toEqual([[], []]);
  });

  it('is found in an old entry by the daily check of every row', async () => {
    await check();
    await run(`update ledger.entries set amount = amount + 1 where asset = 'ETH' and bucket = 'custody'`);
    try {
      await check();
      expect((await checks()).at(-1)).toBe('recent right');
      await later('1 day');
      await check();
      await check();
      expect(await halts()).toEqual([{ asset: 'ETH', open: true }]);
    } finally {
      await run(`update ledger.entries set amount = amount - 1 where asset = 'ETH' and bucket = 'custody'`);
    }
  });

  it('that only the balance snapshots of the auditor show is refuted by the check of every row, which computes them again', async () => {
    await check();
    await run('update auditor.balance_snapshots set amount = amount + 1');
    await check();
    await check();
    await check();
    expect(await checks()).toEqual(['whole right', 'recent wrong', 'again right', 'recent right']);
    expect(await halts()).toEqual([]);
  });
});

describe('an operator', () => {
  const resume = (asset: 'ETH' | 'SOL', force = false) =>
    resumePayouts(
      { db: admin2(), clock: { now: () => now }, note: async () => undefined },
      { asset, force, chains: [chain], gracePeriodSeconds: 60, chainDays: 30 },
    );
  const node = new ScriptedEvmNode();
  let chain: ReconciledChain;
  beforeAll(async () => {
    const hot = '0x1';
    await run(
      `insert into payouts.wallets (chain, address, role, next_nonce) values ('ethereum', '${hot}', 'hot', 0)`,
    );
    node.blocks.set(10, `0x${'a'.repeat(64)}`);
    node.balances.set(hot, 1_000n);
    node.mined.set(PAID, { to: ADDRESS, value: 100n, succeeded: true, height: 1 });
    chain = { settings: await node.start() };
  });
  afterAll(() => node.stop());
  let opened: Db | undefined;
  const admin2 = () =>
    (opened ??= openDb({
      url: database.adminUrl,
      schema: 'auditor',
      pool: 1,
      logger: createLogger('test', 'silent'),
    }));
  afterAll(() => opened?.close());

  it('resumes an asset whose discrepancy is resolved, and no other', async () => {
    expect(await resume('ETH')).toMatchObject({ ok: false, refusal: { why: 'not_halted' } });
    await check();
    await off(1);
    try {
      await check();
      await check();
      expect(await resume('ETH')).toMatchObject({
        ok: false,
        refusal: { why: 'still_wrong', discrepancies: [{ invariant: 'I2', asset: 'ETH' }] },
      });
      expect(await resume('SOL')).toMatchObject({ ok: false, refusal: { why: 'not_halted' } });
    } finally {
      await off(-1);
    }
    expect(await resume('ETH')).toMatchObject({ ok: true, value: { accepted: [] } });
    expect(await halts()).toEqual([{ asset: 'ETH', open: false }]);
    const kinds = await db.rows(
      "select kind, payload ->> 'halt' = (select seq::text from halts) as same from outbox order by seq",
    );
    expect(kinds).toEqual([
      { kind: 'asset.halted', same: true },
      { kind: 'asset.resumed', same: true },
    ]);
    for (let i = 0; i < 2; i++) await check();
    expect(await halts()).toHaveLength(1);
  });

  it('resumes by force and accepts the discrepancy, and a further one halts the asset again', async () => {
    await check();
    await off(1);
    try {
      await check();
      await check();
      expect(await resume('ETH', true)).toMatchObject({
        ok: true,
        value: { accepted: [{ invariant: 'I2' }] },
      });
      await later('1 day');
      for (let i = 0; i < 3; i++) await check();
      expect(await halts()).toEqual([{ asset: 'ETH', open: false }]);
      expect(await db.rows('select forced from halts')).toEqual([{ forced: true }]);
      // One more unit is not accepted. A discrepancy that keeps growing is found again.
      await off(1);
      try {
        await check();
        await off(1);
        await check();
        await off(-1);
        expect(await halts()).toEqual([
          { asset: 'ETH', open: false },
          { asset: 'ETH', open: true },
        ]);
      } finally {
        await off(-1);
      }
    } finally {
      await off(-1);
    }
  });
});

it('a chain whose node cannot be asked is no discrepancy, is logged once, and is shown in the metrics', async () => {
  const settings = {
    kind: 'evm' as const,
    chain: 'ethereum' as const,
    rpcUrls: [new Secret('http://127.0.0.1:1')],
    chainId: 1,
  };
  const memory = new Map([
    ['ethereum' as const, { balances: new BalanceSnapshots(), lookedAt: undefined, unseen: undefined }],
  ]);
  const blind = replica({ chains: [{ settings }], memory });
  for (let i = 0; i < 3; i++) await check(blind);
  expect(await halts()).toEqual([]);
  expect(lines.map(({ level, fields }) => [level, fields['chain']])).toEqual([['warn', 'ethereum']]);
  expect(await metricsText()).toContain('quittance_reconciliation_chain_compared{chain="ethereum"} 0');
});

it('a node that is down delays no check of the records, nor does a suspected discrepancy of its chain', async () => {
  // It accepts the connection and does not answer.
  const asked: ServerResponse[] = [];
  const node = createServer((_, response) => asked.push(response));
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  const { port } = node.address() as AddressInfo;
  const settings = {
    kind: 'evm' as const,
    chain: 'ethereum' as const,
    rpcUrls: [new Secret(`http://127.0.0.1:${port}`)],
    chainId: 1,
  };
  const memory = new Map([
    ['ethereum' as const, { balances: new BalanceSnapshots(), lookedAt: undefined, unseen: undefined }],
  ]);
  const waiting = replica({ chains: [{ settings }], memory });
  await run(`insert into auditor.discrepancies (invariant, subject, asset, what, chain, pauses_payouts, first_seen_at, last_seen_at)
    values ('I6', 'ETH is short', 'ETH', 'ETH is short of 1', 'ethereum', true, now(), now())`);
  await off(1);
  try {
    let isDone = false;
    const step = check(waiting).finally(() => {
      isDone = true;
    });
    await eventually(() => expect(asked).not.toEqual([]), 10_000, 50);
    expect([isDone, await checks()]).toEqual([false, ['whole wrong']]);
    expect(await discrepancies()).toMatchObject([{ invariant: 'I2' }, { invariant: 'I6' }]);
    node.closeAllConnections();
    node.close();
    await step;
    await check(waiting);
    await check(waiting);
    expect(await checks()).toEqual(['whole wrong', 'again wrong', 'recent wrong']);
    expect(await halts()).toEqual([{ asset: 'ETH', open: true }]);
    expect(await discrepancies()).toMatchObject([
      { invariant: 'I2', times: 3 },
      { invariant: 'I6', times: 1 },
    ]);
  } finally {
    node.closeAllConnections();
    node.close();
    await off(-1);
  }
});

it.each([
  [
    "select amount from payouts.unswept_deposits where chain = $1 and state <> 'swept' and reversed_at is null",
    'unswept_deposits_there',
  ],
  [
    "select 1 from payouts.utxos where chain = $1 and state <> 'spent' and reversed_at is null",
    'utxos_there',
  ],
  [
    "select 1 from payouts.unswept_deposits h where state = 'sweeping' and reversed_at is null",
    'unswept_deposits_sweeping',
  ],
  ["select 1 from payouts.utxos where state = 'locked' and reversed_at is null", 'utxos_locked'],
  [
    "select account_id, asset, sum(amount) from ledger.unresolved where state = 'open' group by 1, 2",
    'unresolved_open',
  ],
  ["select 1 from ledger.unresolved where state = 'returning'", 'unresolved_returning'],
])('a query that runs every minute reads open rows by an index: %s', async (sql, index) => {
  await run('set enable_seqscan = off');
  try {
    const plan = await admin.rows(`explain ${sql.replace('$1', "'ethereum'")}`);
    expect(JSON.stringify(plan)).toContain(` ${index}`);
  } finally {
    await run('reset enable_seqscan');
  }
});

it('a halt, or its end, that payouts does not acknowledge is logged and sent again until payouts has done it', async () => {
  const halfAMinute = () => run(`update auditor.halts set notified_at = notified_at - interval '31 seconds'`);
  const told = async () => {
    lines.length = 0;
    return [
      await resendHalts(ports),
      (await sentEvents()).map(([kind]) => kind),
      lines.map(({ level }) => level),
    ];
  };
  await run(`insert into auditor.halts (asset, discrepancies) values ('ETH', '[]')`);
  expect(await told()).toEqual([0, [], []]);
  await halfAMinute();
  expect(await told()).toEqual([1, ['asset.halted'], ['error']]);
  expect(await told()).toEqual([0, ['asset.halted'], []]);
  await run(`insert into payouts.halted_assets (asset, halt) select asset, seq from auditor.halts`);
  try {
    await halfAMinute();
    expect(await told()).toEqual([0, ['asset.halted'], []]);
    expect(await metricsText()).toContain('quittance_asset_halted{asset="ETH"} 1');
    await run('update auditor.halts set resumed_at = now()');
    expect(await told()).toEqual([1, ['asset.halted', 'asset.resumed'], ['error']]);
    await run('update payouts.halted_assets set resumed_at = now()');
    await halfAMinute();
    expect(await told()).toEqual([0, ['asset.halted', 'asset.resumed'], []]);
  } finally {
    await run('delete from payouts.halted_assets');
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
  ]) {
    expect([sql, await db.rows(sql).then(String, String)]).toEqual([sql, expect.stringMatching(refused)]);
  }
  // Events in flight are money in motion, so the auditor reads them.
  for (const service of ['ledger', 'payouts', 'invoices', 'webhooks']) {
    await db.rows(`select payload from ${service}.outbox`);
    await db.rows(`select event_id from ${service}.dead_letters`);
  }
});
