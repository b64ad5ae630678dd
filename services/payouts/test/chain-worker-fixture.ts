import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Broadcast } from '@quittance/chains/chain';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import { type Db, openDb } from '@quittance/shared/db';
import { type AccountId, newAccountId, type PayoutId } from '@quittance/shared/ids';
import { createLogger, type Logger, throttledLog } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { Secret } from '@quittance/shared/secret';
import { noTracer } from '@quittance/shared/traces';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { recordDeposits, reverseDeposits } from '../src/handlers.ts';
import { readAttempts } from '../src/operations/read-attempts.ts';
import { requestPayout } from '../src/operations/request-payout.ts';
import type { Ports } from '../src/ports.ts';
import { noteHalt, noteResume } from '../src/store/halts.ts';
import { aDeposit, type DepositPayload } from './deposit-event.ts';

/** A clock that a test moves. Unless it `runs`, only the test moves it. */
export class TestClock {
  readonly #now: () => number;
  #aheadMs = 0;
  constructor({ runs }: { runs: boolean }) {
    const start = Date.now();
    this.#now = runs ? Date.now : () => start;
  }
  now(): Date {
    return new Date(this.#now() + this.#aheadMs);
  }
  advance(ms: number): void {
    this.#aheadMs += ms;
  }
}

type Line = { level: string; msg: string } & Record<string, unknown>;

/** A logger that keeps its lines. */
function keepingLogger(lines: Line[]): Logger {
  const keep = (level: string) => (fields: object | string, msg?: string) => {
    lines.push(typeof fields === 'string' ? { level, msg: fields } : { ...fields, level, msg: msg ?? '' });
  };
  const logger = createLogger('payouts', 'silent');
  for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level] = keep(level) as never;
  return logger;
}

/** The auditor halts an asset, and an operator resumes it. */
export const halt = (db: Db, asset: AssetSymbol, number = '1') =>
  db.transaction((trx) => noteHalt(trx, { asset, halt: number }));
export const resume = (db: Db, asset: AssetSymbol, number = '1') =>
  db.transaction((trx) => noteResume(trx, { asset, halt: number }));

const TABLES = [
  'halted_assets',
  'utxos',
  'hot_address_cursors',
  'wallet_histories',
  'unswept_deposits',
  'payments',
];
const placed = { known: true, reply: { outcome: 'placed' } };

const unsent = ['failed', 'refused', 'voided', 'requested', 'awaiting_approval', 'reserved', 'planned'];
/** Whether a payout in this state has paid nothing. */
export const hasPaidNothing = (status: string): boolean => unsent.includes(status);

/** What the fixtures of the chain workers share: the database, the log, and a ledger that places every hold. */
export abstract class ChainWorkerFixture {
  readonly lines: Line[] = [];
  readonly account: AccountId = newAccountId(new Date());
  readonly clock: TestClock;
  readonly db: Db;
  /** A superuser's connection, for what the service's own role may not do. */
  readonly admin: Db;
  abstract readonly ports: Ports;
  /** The transactions that were sent to the node, in order. */
  readonly sent: string[] = [];
  /** Replaces the broadcast, when a test wants a fault. */
  onBroadcast: (raw: string, send: () => Promise<Broadcast>) => Promise<Broadcast> = (_raw, send) => send();

  constructor(database: TestDatabase, clock: TestClock) {
    const logger = keepingLogger(this.lines);
    this.clock = clock;
    this.db = openDb({ url: database.urlOf('payouts'), schema: 'payouts', pool: 4, logger });
    this.admin = openDb({ url: database.adminUrl, schema: 'payouts', pool: 1, logger });
  }

  /** The tests of a suite share a database one after the other, and each begins with empty tables. */
  protected async emptyTables(): Promise<void> {
    for (const table of [...TABLES, 'transactions', 'wallets', 'payouts', 'leases', 'outbox']) {
      await this.admin.rows(`delete from ${table}`);
    }
  }

  /** The ports of one more replica, without its chain. */
  protected replicaPorts(resendAfterMs = 5_000): Ports {
    const logger = keepingLogger(this.lines);
    return {
      chains: new Map(),
      db: this.db,
      bus: { connected: () => true, ask: async () => placed } as Partial<Bus> as Bus,
      clock: this.clock,
      random: randomBytes,
      logger,
      tracer: noTracer,
      throttledLog: throttledLog(logger, () => this.clock.now().getTime()),
      quotes: { latest: () => undefined, fresh: () => undefined },
      fiatRates: { fresh: () => undefined },
      stalled: new Map(),
      signer: { sign: async () => ({ known: false, reason: 'this chain has no signer' }) },
      settings: {
        gatewayKeys: new Map(),
        claimLinksSecret: new Secret('x'.repeat(32)),
        publicUrl: 'http://localhost',
        replica: randomUUID(),
        chainWorkerEveryMs: 1_000,
        leaseMs: 60_000,
        gracePeriods: { resendAfterMs, doubtForMs: 30_000, stuckAfterMs: 180_000 },
      },
      wakeRelay: () => {},
    };
  }

  /** A sender whose broadcasts are recorded, and go through `onBroadcast`. */
  protected recorded<S extends { broadcast(raw: string): Promise<Broadcast> }>(real: S): S {
    const broadcast = (raw: string) => {
      this.sent.push(raw);
      return this.onBroadcast(raw, () => real.broadcast(raw));
    };
    return { ...real, broadcast };
  }

  /** A payout whose hold the ledger has placed. */
  protected async request(
    order: Pick<Parameters<typeof requestPayout>[1], 'asset' | 'address' | 'minConfirmations'> &
      Record<'amount' | 'networkFee', bigint>,
  ): Promise<PayoutId> {
    const made = await requestPayout(this.ports, {
      ...order,
      account: this.account,
      request: null,
      requestId: 'req_test',
      key: undefined,
      amount: units(order.amount),
      networkFee: units(order.networkFee),
      usdRate: '2500',
      takesAll: false,
      externalId: null,
      metadata: {},
    });
    if (!made.ok) throw new Error(`not reserved: ${made.refusal}`);
    return made.value;
  }

  protected depositOf(deposit: Omit<Parameters<typeof aDeposit>[0], 'account_id'>): DepositPayload {
    return aDeposit({ ...deposit, account_id: this.account });
  }

  async settled(...payloads: DepositPayload[]): Promise<void> {
    const deposits = payloads.map((payload) => ({ payload }));
    await this.db.transaction((trx) => recordDeposits(trx, deposits));
  }

  async reversed({ disposition: _, ...payload }: DepositPayload): Promise<void> {
    await this.db.transaction((trx) => reverseDeposits(trx, [{ payload }]));
  }

  payout(id: PayoutId): Promise<Record<string, unknown>> {
    return this.db.one('select * from payouts where id = $1', [id]);
  }

  async statusOf({ id }: { id: PayoutId }): Promise<unknown> {
    return (await this.payout(id))['status'];
  }

  statusesOf(...payouts: { id: PayoutId }[]): Promise<unknown[]> {
    return Promise.all(payouts.map((payout) => this.statusOf(payout)));
  }

  /** What its merchant reads of the transactions of a payout: their states and what they offer the network. */
  async attempts(id: PayoutId): Promise<{ status: string; fee: string | undefined }[]> {
    const { asset } = await this.db.one<{ asset: AssetSymbol }>('select asset from payouts where id = $1', [
      id,
    ]);
    const attempts = await readAttempts(this.ports, { id, asset });
    return attempts.map(({ status, feeRate }) => ({ status, fee: feeRate?.unit }));
  }

  expectLogged(line: Record<string, unknown>): void {
    expect(this.lines).toContainEqual(expect.objectContaining(line));
  }

  /** The kinds of the events about a payout, in order. */
  async published(id: PayoutId): Promise<string[]> {
    const rows = await this.db.rows<{ kind: string; payload: { fee_kept?: boolean } }>(
      `select kind, payload from outbox where payload->>'payout_id' = $1 or payload->>'resource_id' = $1 order by seq`,
      [id],
    );
    return rows.map(({ kind, payload }) => (payload.fee_kept === true ? `${kind}, fee kept` : kind));
  }

  /** The published network fees, in order. */
  async spent(): Promise<{ amount: string; purpose: string; tx_hash: string; asset: string }[]> {
    const rows = await this.db.rows<{ payload: never }>(
      `select payload from outbox where kind = 'network.spent' order by seq`,
    );
    return rows.map(({ payload }) => payload);
  }

  /** The lease of a replica that died, or sleeps, expires. */
  async freeLease(): Promise<void> {
    await this.db.rows(`update leases set expires_at = now() - interval '1 second'`);
  }

  /** Throws when something is wrong that must be true after every test. */
  abstract expectSound(): Promise<void>;

  async close(): Promise<void> {
    await Promise.all([this.db.close(), this.admin.close()]);
  }
}

/**
 * Starts a node and a database for a suite, and checks and closes each fixture after its test.
 * @returns the fixture of whichever test runs, and what makes that of one test.
 */
export function chainWorkerSuite<
  N extends { stop(): Promise<unknown> } | undefined,
  F extends ChainWorkerFixture,
  A extends unknown[],
>(startNode: () => Promise<N>, fresh: (database: TestDatabase, node: N, ...given: A) => Promise<F>) {
  let engines: [TestDatabase, N];
  let current: F | undefined;
  beforeAll(async () => {
    engines = await Promise.all([testDatabase(), startNode()]);
  });
  afterEach(async () => {
    try {
      await current?.expectSound();
    } finally {
      await current?.close();
      current = undefined;
    }
  });
  afterAll(async () => {
    await engines?.[1]?.stop();
    await engines?.[0].drop();
  });
  const there = () => {
    if (current === undefined) throw new Error('only a test has a fixture');
    return current;
  };
  // Each test has a fixture of its own: what is read of this one, or set, is of that one.
  const fixture = new Proxy({} as F, {
    get(_, name) {
      const value: unknown = Reflect.get(there(), name);
      return typeof value === 'function' ? value.bind(there()) : value;
    },
    set: (_, name, value) => Reflect.set(there(), name, value),
  });
  const begin = async (...given: A) => {
    current = await fresh(...engines, ...given);
  };
  return { fixture, begin };
}
