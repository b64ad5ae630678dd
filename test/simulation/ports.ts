import type { Clock } from '@quittance/shared/clock';
import type { Db, Queryable, Statement, Trx } from '@quittance/shared/db';
import { isWriting, UnknownOutcome } from '@quittance/shared/db-errors';
import type { Logger } from '@quittance/shared/logger';
import type { Ask } from './chain.ts';
import type { Environment } from './environment.ts';
import type { Process } from './process.ts';
import type { Row } from './remembered.ts';

const NODE_TIMEOUT_MS = 10_000;

/** As node-pg says it: every operation takes it for a database that could not be asked. */
const connectionLost = () => new Error('Connection terminated unexpectedly');

const nameOf = (sql: Statement | string): string =>
  typeof sql === 'string' ? sql.replaceAll(/\s+/g, ' ').slice(0, 40) : sql.name;

/**
 * The database as one process is connected to it. One transaction at a time is open, so what is seen inside one is
 * never another's; between transactions everybody takes turns, and at each turn the connection may break: before the
 * statement or the commit took effect, or after.
 */
export function databaseOf(environment: Environment, process: Process): Db {
  const { database, faults } = environment;
  const { service } = process;

  function run(sql: Statement | string, values: readonly unknown[], within: boolean): Row[] {
    database.now = environment.scheduler.now;
    const written = typeof sql === 'string' ? sql : rewritten(environment, service, sql);
    if (isTold(typeof written === 'string' ? written : written.text)) environment.isToRelay.add(service);
    return database.run(service, written, values, within);
  }

  async function rowsAlone(sql: Statement | string, values: readonly unknown[] = []): Promise<Row[]> {
    await environment.step(process, nameOf(sql));
    while (environment.open !== undefined) await environment.untilClosed(process);
    // Who wrote by itself does not know whether its statement arrived.
    const isWrite = isWriting(typeof sql === 'string' ? sql : sql.text);
    const lost = () => (isWrite ? new UnknownOutcome(connectionLost()) : connectionLost());
    if (faults.strikes('statement lost')) throw lost();
    const rows = run(sql, values, false);
    const isHeard = !isWrite || !faults.strikes('answer of a statement lost');
    if (environment.strikesDown(process)) return await environment.never;
    if (!isHeard) throw lost();
    return rows;
  }

  const db: Db = {
    ...queryable(rowsAlone),
    async transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
      await environment.step(process, 'begin');
      while (environment.open !== undefined) await environment.untilClosed(process);
      const open = environment.openTransaction(process);
      let isBroken = false;
      const trx = queryable(async (sql, values = []) => {
        if (isBroken || faults.strikes('statement lost')) {
          isBroken = true;
          throw connectionLost();
        }
        if (environment.strikesDown(process)) return await environment.never;
        environment.tell(process, `  ${nameOf(sql)}`);
        return run(sql, values, true);
      }) as Trx;
      try {
        const result = await work(trx);
        if (environment.strikesDown(process)) return await environment.never;
        if (isBroken || faults.strikes('commit lost')) throw new UnknownOutcome(connectionLost());
        open.commit();
        environment.tell(process, 'commit');
        if (faults.strikes('answer of a commit lost')) throw new UnknownOutcome(connectionLost());
        if (environment.strikesDown(process)) return await environment.never;
        return result;
      } catch (error) {
        if (open.isOpen) {
          environment.tell(process, `rollback: ${String(error)}`);
          open.rollback();
        }
        throw error;
      }
    },
    close: async () => {},
  };
  return db;
}

const told = new Map<string, boolean>();
function isTold(text: string): boolean {
  const known = told.get(text);
  if (known !== undefined) return known;
  const is = /\binto outbox\b|update outbox set sent_at = null/.test(text);
  told.set(text, is);
  return is;
}

function rewritten({ wiring }: Environment, service: string, sql: Statement): Statement {
  if (wiring.sql.size === 0) return sql;
  const rewrite = wiring.sql.get(`${service}.${sql.name}`) ?? wiring.sql.get(`*.${sql.name}`);
  return rewrite === undefined ? sql : { ...sql, text: rewrite(sql.text) };
}

type RunRows = (sql: Statement | string, values?: readonly unknown[]) => Promise<Row[]>;

/** What asks by one function. */
export function queryable(run: RunRows): Queryable {
  return {
    rows: run as Queryable['rows'],
    async one<T extends object>(sql: Statement | string, values?: readonly unknown[]): Promise<T> {
      const found = await run(sql, values);
      if (found.length !== 1) throw new Error(`expected one row, got ${found.length}: ${nameOf(sql)}`);
      return found[0] as T;
    },
    async maybe<T extends object>(
      sql: Statement | string,
      values?: readonly unknown[],
    ): Promise<T | undefined> {
      const found = await run(sql, values);
      if (found.length > 1) throw new Error(`expected at most one row: ${nameOf(sql)}`);
      return found[0] as T | undefined;
    },
  };
}

/** A process' clock, which may be wrong. */
export const clockOf = ({ scheduler }: Environment, process: Process): Clock => ({
  now: () => new Date(scheduler.now + process.clockIsOffMs),
  sleep: (ms, signal) => scheduler.sleep(process, ms, signal),
});

/** How one process asks the node. */
export const askOf =
  (environment: Environment, process: Process): Ask =>
  async (what, give) => {
    const { faults, scheduler, chance } = environment;
    await environment.step(process, `node: ${what}`);
    if (faults.strikes('node away')) throw new Error('connect ECONNREFUSED');
    const answer = give();
    if (what === 'broadcast' && faults.strikes('bytes refused')) return 'rejected' as typeof answer;
    if (faults.strikes('answer of the node lost')) {
      await scheduler.sleep(process, NODE_TIMEOUT_MS);
      throw new Error('the node did not answer in time');
    }
    if (faults.strikes('answer of the node late'))
      await scheduler.sleep(process, chance.below(NODE_TIMEOUT_MS));
    await environment.step(process);
    return answer;
  };

/** Keeps a line of what production code logs, when anybody reads it. */
export function loggerOf(environment: Environment, process: Process): Logger {
  const keep = (level: string) => (fields: object | string, message?: string) => {
    if (!environment.isTold) return;
    const said = typeof fields === 'string' ? fields : `${message ?? ''} ${shown(fields)}`;
    environment.tell(process, `${level}: ${said}`);
  };
  return {
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
  } as unknown as Logger;
}

const shown = (fields: object): string =>
  JSON.stringify(fields, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
