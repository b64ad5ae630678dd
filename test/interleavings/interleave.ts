import { setImmediate as turn } from 'node:timers/promises';
import { checkInvariants } from '@quittance/reconciliation/check-invariants';
import { invariants } from '@quittance/reconciliation/invariants';
import { snapshotOf } from '@quittance/reconciliation/snapshot';
import { type Db, openDb, type Queryable, type Statement, type Trx } from '@quittance/shared/db';
import { createLogger, reason } from '@quittance/shared/logger';

const STEPS = 3;
const CHECK_MAX_MS = 60_000;
const names = ['A', 'B'] as const;
type Name = (typeof names)[number];
type Order = readonly Name[];

/**
 * One of two operations that run at the same time, each over a connection of its own. It is cut into three steps: it waits
 * before its first statement, and before each of these two, in this order. `commit` is the next commit after the former.
 */
export type Operation<T> = {
  pausesBefore: readonly [string, string];
  run(db: Db): Promise<T>;
  /** Throws when something is wrong right before a commit, after the pause before it. */
  checkBeforeCommit?(trx: Trx): Promise<void>;
};

/** Runs both operations in one order of their steps. Rejections are outcomes as well. */
export type Interleave = <A, B>(
  a: Operation<A>,
  b: Operation<B>,
) => Promise<{ a: PromiseSettledResult<A>; b: PromiseSettledResult<B> }>;

export type Interleaver = {
  /** Repeats a test for every order, each time with rows of its own, and checks the invariants of the database at its end. */
  inEveryOrder(test: (interleave: Interleave) => Promise<void>): Promise<void>;
  close(): Promise<void>;
};

/** All orders of three steps of one operation and three of another: 20. */
function ordersOf(a: number, b: number): Name[][] {
  if (a + b === 0) return [[]];
  return [
    ...(a > 0 ? ordersOf(a - 1, b).map((rest): Name[] => ['A', ...rest]) : []),
    ...(b > 0 ? ordersOf(a, b - 1).map((rest): Name[] => ['B', ...rest]) : []),
  ];
}

/** An operation that runs as far as it is let. Each `step` lets it go past one more pause. */
function stepwise<T>({ pausesBefore, run, checkBeforeCommit }: Operation<T>, db: Db, pid: number) {
  const pauses = ['start', ...pausesBefore];
  let [reached, passes] = [0, 0];
  let wake: (() => void) | undefined;
  let isDone = false;

  async function pauseBefore(what: string): Promise<void> {
    if (pauses[reached] !== what) return;
    reached += 1;
    if (passes > 0) passes -= 1;
    else await new Promise<void>((resolve) => (wake = resolve));
  }

  const pausing = (on: Queryable): Queryable => {
    const before =
      <A extends [sql: Statement | string, values?: readonly unknown[]], R>(
        ask: (...asked: A) => Promise<R>,
      ) =>
      async (...asked: A): Promise<R> => {
        const [sql] = asked;
        await pauseBefore(typeof sql === 'string' ? sql : sql.name);
        return await ask(...asked);
      };
    return { rows: before(on.rows), one: before(on.one), maybe: before(on.maybe) } as Queryable;
  };
  async function transaction<R>(work: (trx: Trx) => Promise<R>): Promise<R> {
    return await db.transaction(async (trx) => {
      const result = await work(pausing(trx) as Trx);
      await pauseBefore('commit');
      await checkBeforeCommit?.(trx);
      return result;
    });
  }
  // A statement outside of a transaction is one of its own, so that the operation can pause before its commit as well.
  const alone: Db = {
    rows: (...asked: Parameters<Queryable['rows']>) => transaction((trx) => trx.rows(...asked)),
    one: (...asked: Parameters<Queryable['one']>) => transaction((trx) => trx.one(...asked)),
    maybe: (...asked: Parameters<Queryable['maybe']>) => transaction((trx) => trx.maybe(...asked)),
    transaction,
    close: () => Promise.resolve(),
  } as Db;

  const done = (async () => {
    await pauseBefore('start');
    return await run(alone);
  })();
  const outcome = Promise.allSettled([done]).then(([settled]) => {
    isDone = true;
    return settled;
  });
  return {
    pid,
    outcome,
    isMoving: () => !isDone && wake === undefined,
    hasPausedEverywhere: () => reached === pauses.length,
    step() {
      const go = wake;
      wake = undefined;
      if (go === undefined) passes += 1;
      else go();
    },
  };
}

const DEADLOCK = '40P01';

/** Two connections to a database with a service's role, over which operations run in every order of their steps. */
export async function openInterleaver(
  database: { adminUrl: string; urlOf(service: string): string },
  schema: string,
): Promise<Interleaver> {
  const logger = createLogger('interleavings', 'silent');
  const watcher = openDb({ url: database.adminUrl, schema: 'public', pool: 1, logger });
  const connections = names.map(() => openDb({ url: database.urlOf(schema), schema, pool: 1, logger }));
  const pids = await Promise.all(
    connections.map(async (db) => (await db.one<{ pid: number }>('select pg_backend_pid() as pid')).pid),
  );

  /** Waits until each operation has ended, is at a pause, or waits for a lock that the other one holds. */
  async function rest(operations: readonly ReturnType<typeof stepwise>[]): Promise<void> {
    for (;;) {
      await turn();
      const moving = operations.filter((one) => one.isMoving());
      if (moving.length === 0) return;
      const { waiting } = await watcher.one<{ waiting: number[] }>(
        `select array(select pid from unnest($1::int[]) as pid where cardinality(pg_blocking_pids(pid)) > 0) as waiting`,
        [pids],
      );
      if (operations.every((one) => !one.isMoving() || waiting.includes(one.pid))) return;
    }
  }

  async function interleave<A, B>(order: Order, a: Operation<A>, b: Operation<B>) {
    const [dbA, dbB] = connections as [Db, Db];
    const [pidA = 0, pidB = 0] = pids;
    const sides = { A: stepwise(a, dbA, pidA), B: stepwise(b, dbB, pidB) };
    const both = Object.values(sides) as ReturnType<typeof stepwise>[];
    await rest(both);
    for (const name of order) {
      sides[name].step();
      await rest(both);
    }
    const outcomes = { a: await sides.A.outcome, b: await sides.B.outcome };
    for (const outcome of Object.values(outcomes)) {
      if (outcome.status === 'rejected' && outcome.reason.code === DEADLOCK) throw outcome.reason;
    }
    return { outcomes, hasPaused: both.map((one) => one.hasPausedEverywhere()) };
  }

  return {
    async inEveryOrder(test) {
      const paused = [false, false];
      for (const order of ordersOf(STEPS, STEPS)) {
        try {
          await test(async (a, b) => {
            const { outcomes, hasPaused } = await interleave(order, a, b);
            for (const [i, has] of hasPaused.entries()) paused[i] ||= has;
            return outcomes;
          });
        } catch (error) {
          throw new Error(`in the order ${order.join(' ')}: ${reason(error)}`, { cause: error });
        }
      }
      // A statement with another name would never be paused before, and most orders would be the same one.
      if (paused.includes(false)) throw new Error('an operation never reached one of its pauses');
      const alone = invariants.filter((one) => one.alone === true);
      const found = await checkInvariants(snapshotOf(watcher, CHECK_MAX_MS), alone, {
        gracePeriodSeconds: 0,
      });
      if (found.length > 0)
        throw new Error(found.map(({ invariant, what }) => `${invariant} ${what}`).join('; '));
    },
    async close() {
      await Promise.all([watcher, ...connections].map((db) => db.close()));
    },
  };
}

/** What an operation returned; throws what it threw. */
export function returned<T>(outcome: PromiseSettledResult<T>): T {
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
