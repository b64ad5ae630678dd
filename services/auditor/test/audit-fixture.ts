import { randomUUID } from 'node:crypto';
import { beforeEach, expect } from '@jest/globals';
import type { ReconciledChain } from '@quittance/reconciliation/chain-records';
import type { Db } from '@quittance/shared/db';
import { createLogger, type Logger } from '@quittance/shared/logger';
import { creditedDeposit } from '@quittance/testkit/credited-deposit';
import { runAll, type SuiteDatabase, suiteDatabase } from '@quittance/testkit/suite-database';
import { auditorMetrics } from '../src/metrics.ts';
import { stepAudit } from '../src/operations/check-books.ts';
import { emptyMemory, type Ports } from '../src/ports.ts';

/** The auditor with its own role, stepped by the test, over correct records into which a test puts one discrepancy. */

export const PAID = `0x${'7'.repeat(64)}`;
export const ADDRESS = `0x${'2'.repeat(40)}`;
const rightBooks = [
  creditedDeposit({ address: ADDRESS, txHash: PAID, booked: "now() - interval '1 day'" }),
  creditedDeposit({ n: 2, asset: 'SOL', amount: 50, address: 'A', txHash: 't' }),
].join(';');

const rightBalances = `set session_replication_role = replica;
  update ledger.balances set available = case asset when 'ETH' then 100 else 50 end where account_id = 'acc_1'`;

const ALL_TABLES = [
  'checks',
  'discrepancies',
  'halts',
  'outbox',
  'leases',
  'balance_snapshots',
  'balance_snapshots_until',
  'custody_snapshots',
  'operator_funds',
  'custody_snapshots_until',
  'sweep_remains',
  'address_rounds',
  'passed_checks',
];

type Line = { level: string; msg: string; fields: Record<string, unknown> };

function keepingLogger(lines: Line[]): Logger {
  const logger = createLogger('auditor', 'silent');
  for (const level of ['info', 'warn', 'error'] as const) {
    logger[level] = ((fields: Record<string, unknown>, msg: string) =>
      lines.push({ level, msg, fields })) as never;
  }
  return logger;
}

class AuditFixture {
  readonly lines: Line[] = [];
  /** With the auditor's own role. */
  readonly db: Db;
  /** With a superuser's. */
  readonly admin: Db;
  readonly finally: SuiteDatabase['finally'];
  ports: Ports;
  #now = new Date();

  constructor(database: SuiteDatabase) {
    this.admin = database.openAsAdmin('auditor', { pool: 1 });
    this.db = database.openAs('auditor');
    this.finally = database.finally;
    this.ports = this.replica();
  }

  /** Balances are right, nothing was checked, and a new replica is the first. */
  async begin(): Promise<void> {
    await this.run(rightBalances);
    for (const table of ALL_TABLES) await this.admin.rows(`delete from ${table}`);
    this.lines.length = 0;
    this.#now = new Date();
    this.ports = this.replica();
  }

  run(sql: string): Promise<void> {
    return runAll(this.admin, sql);
  }

  replica(given: Partial<Ports> = {}): Ports {
    return {
      db: this.db,
      slowDb: this.db,
      clock: { now: () => this.#now },
      logger: keepingLogger(this.lines),
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
      gatewayKeys: undefined,
      wakeRelay: () => {},
      ...given,
    };
  }

  /** A replica that asks this node of Ethereum. */
  replicaWithNode(chain: ReconciledChain, given: Partial<Ports> = {}): Ports {
    const memory: Ports['memory'] = new Map([['ethereum', emptyMemory()]]);
    return this.replica({ chains: [chain], memory, ...given });
  }

  /** Makes the stored checks older, because the database's clock dates them. */
  later(by: string): Promise<void> {
    return this.run(
      `update auditor.checks set began_at = began_at - interval '${by}', ended_at = ended_at - interval '${by}'`,
    );
  }

  /** A minute later. */
  async check(of = this.ports): Promise<number> {
    this.#now = new Date(this.#now.getTime() + 60_000);
    await this.later('1 minute');
    return await stepAudit(of);
  }

  /** Later, a replica with a node checks, and looks at its chain where that is due. @returns what it found. */
  async checkOf(ports: Ports, { after = '1 minute', isChainDue = true } = {}): Promise<string> {
    await this.later(after);
    if (isChainDue) for (const seen of ports.memory.values()) seen.lookedAt = undefined;
    expect(await stepAudit(ports)).toBe(1);
    return (await this.checks()).at(-1) ?? '';
  }

  off(units: number, asset = 'ETH'): Promise<void> {
    return this.run(`update ledger.balances set available = available + ${units} where asset = '${asset}'`);
  }

  halts(): Promise<{ asset: string; open: boolean }[]> {
    return this.db.rows('select asset, resumed_at is null as open from halts order by seq');
  }

  async sentEvents(): Promise<string[][]> {
    const rows = await this.db.rows<{
      kind: string;
      payload: { asset: string; breaches?: { what: string }[] };
    }>('select kind, payload from outbox order by seq');
    return rows.map(({ kind, payload }) => [
      kind,
      payload.asset,
      ...(payload.breaches ?? []).map(({ what }) => what),
    ]);
  }

  async checks(): Promise<string[]> {
    const rows = await this.db.rows<{ scope: string; was_right: boolean }>(
      'select scope, was_right from checks order by seq',
    );
    return rows.map(({ scope, was_right }) => `${scope} ${was_right ? 'right' : 'wrong'}`);
  }

  discrepancies(): Promise<{ invariant: string; subject: string }[]> {
    return this.db.rows('select * from discrepancies order by 1, 2');
  }

  metricsText(): Promise<string> {
    const settings = { chainsEveryMs: 60_000 };
    const logger = keepingLogger(this.lines);
    return auditorMetrics({ db: this.db, logger, cachedMs: 0 }, { ...this.ports, settings }).text();
  }
}

/** For one suite: correct records unless others are given, and before every test an auditor that has checked nothing. */
export async function auditSuite(records = rightBooks): Promise<AuditFixture> {
  const database = await suiteDatabase();
  const fixture = new AuditFixture(database);
  await fixture.run(`set session_replication_role = replica; ${records}`);
  beforeEach(() => fixture.begin());
  database.finally(() => fixture.run(rightBalances));
  return fixture;
}
