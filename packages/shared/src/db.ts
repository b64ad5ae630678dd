import pg from 'pg';
import { isWriting, knownWrite } from './db-errors.ts';
import { type Logger, reason, throttledLog } from './logger.ts';

/** SQL with a name: Postgres plans it once per connection. The name is unique within its service. */
export type Statement = { readonly name: string; readonly text: string };

export const statement = (name: string, text: string): Statement => ({ name, text });

declare const row: unique symbol;
/** A statement whose rows are of type `R`: columns in camelCase, whole numerics as bigint. Null stays null. */
export type Query<R extends object> = Statement & { readonly isTyped: true; readonly [row]?: R };

/** @param text its columns are named as in the database: `network_fee` arrives as `networkFee` */
export const query = <R extends object>(name: string, text: string): Query<R> => ({
  ...statement(name, text),
  isTyped: true,
});

/** A query and its values. */
export type Selection<R extends object> = { readonly rows: Query<R>; readonly values: readonly unknown[] };

type Row = Record<string, unknown>;

/** Rows of a statement that is no `Query`: columns as they are named, numerics and bigints as text. */
export type Queryable = {
  rows<R extends object>(sql: Query<R>, values?: readonly unknown[]): Promise<R[]>;
  rows<T extends object = Row>(sql: Statement | string, values?: readonly unknown[]): Promise<T[]>;
  /** Exactly one row; anything else is a defect and throws. */
  one<R extends object>(sql: Query<R>, values?: readonly unknown[]): Promise<R>;
  one<T extends object = Row>(sql: Statement | string, values?: readonly unknown[]): Promise<T>;
  /** One row or none. */
  maybe<R extends object>(sql: Query<R>, values?: readonly unknown[]): Promise<R | undefined>;
  maybe<T extends object = Row>(sql: Statement | string, values?: readonly unknown[]): Promise<T | undefined>;
};

declare const trxBrand: unique symbol;
/** An open transaction; what it wrote stands or falls together. */
export type Trx = Queryable & { readonly [trxBrand]: true };

/** A write outside of a transaction throws UnknownOutcome when its answer was lost. */
export type Db = Queryable & {
  /**
   * Commits what `work` did when it returns, rolls all of it back when it throws. Throws UnknownOutcome when the answer to the
   * commit was lost.
   */
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

export type DbOptions = {
  url: string;
  /** The service's schema, the only one on the search path. */
  schema: string;
  pool: number;
  logger: Logger;
  /** After this long without a word the database counts as gone. */
  answerWithinMs?: number;
  /** After this long without a connection a statement fails. */
  connectWithinMs?: number;
  /** More settings of Postgres, for every connection. */
  settings?: Readonly<Record<string, string>>;
};

/** More than the longest limit of Postgres' own: only who cannot be heard any more runs into it. */
const ANSWER_WITHIN_MS = 20_000;
const CONNECT_WITHIN_MS = 5_000;
const ROLLBACK_WITHIN_MS = 2_000;

/**
 * A pool of connections with every limit set: a lock, a statement or an idle transaction that lasts too
 * long is ended by Postgres itself, and a Postgres that says nothing any more is given up, so that nobody
 * waits for ever.
 */
export function openDb({
  url,
  schema,
  pool: max,
  logger,
  answerWithinMs = ANSWER_WITHIN_MS,
  connectWithinMs = CONNECT_WITHIN_MS,
  settings = {},
}: DbOptions): Db {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: `quittance-${schema}`,
    options: [
      `-c search_path=${schema}`,
      '-c lock_timeout=5s',
      '-c statement_timeout=15s',
      '-c idle_in_transaction_session_timeout=15s',
      '-c timezone=UTC',
      ...Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`),
    ].join(' '),
    connectionTimeoutMillis: connectWithinMs,
    query_timeout: answerWithinMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  const connections = throttledLog(logger);
  // For as long as it is there, whoever has it: an error that nobody listens to ends the process. A pool listens to idle
  // ones only, and one may break as soon as it is made, before whoever asked for it has heard of it.
  pool.on('connect', (client) => {
    connections.ended('broken', {}, 'a database connection was made again');
    client.on('error', (error) =>
      connections.log('warn', 'broken', { reason: reason(error) }, 'a database connection broke'),
    );
  });
  // Told by the connection itself.
  pool.on('error', () => undefined);

  return {
    // A statement by itself is committed with its answer.
    ...queryable((query) => (isWriting(query.text) ? knownWrite(pool.query(query)) : pool.query(query))),
    async transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query('begin');
        const result = await work(queryable((query) => client.query(query)) as Trx);
        await knownWrite(client.query('commit'));
        return result;
      } catch (error) {
        // A rollback that fails means a connection that is gone: the pool must not hand it out again.
        const rollback = { text: 'rollback', query_timeout: Math.min(ROLLBACK_WITHIN_MS, answerWithinMs) };
        await client.query(rollback).catch((failure: Error) => {
          broken = failure;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },
    close: () => pool.end(),
  };
}

function queryable(run: (query: pg.QueryConfig) => Promise<pg.QueryResult>): Queryable {
  async function rows<T extends object>(
    sql: Statement | string,
    values: readonly unknown[] = [],
  ): Promise<T[]> {
    const config = typeof sql === 'string' ? { text: sql } : { name: sql.name, text: sql.text };
    const isTyped = isQuery(sql);
    const types = isTyped ? { types: { getTypeParser: typedParser as typeof pg.types.getTypeParser } } : {};
    const result = await run({ ...config, ...types, values: values as unknown[] });
    return (isTyped ? camelRows(result) : result.rows) as T[];
  }
  const nameOf = (sql: Statement | string) => (typeof sql === 'string' ? sql : sql.name);
  return {
    rows,
    async one<T extends object>(sql: Statement | string, values?: readonly unknown[]): Promise<T> {
      const found = await rows<T>(sql, values);
      if (found.length !== 1) throw new Error(`expected one row, got ${found.length}: ${nameOf(sql)}`);
      return found[0] as T;
    },
    async maybe<T extends object>(
      sql: Statement | string,
      values?: readonly unknown[],
    ): Promise<T | undefined> {
      const found = await rows<T>(sql, values);
      if (found.length > 1) throw new Error(`expected at most one row: ${nameOf(sql)}`);
      return found[0];
    },
  };
}

export const isQuery = (sql: Statement | string): boolean => typeof sql !== 'string' && 'isTyped' in sql;

/** Rates have decimals: they stay text, and money.ts parses them. */
const parseNumeric = (text: string): bigint | string => (/^-?\d+$/.test(text) ? BigInt(text) : text);

/** How a column of a `Query` is read, by Postgres' number of its type. */
export const typedParser = (oid: number): ((text: string) => unknown) =>
  oid === pg.types.builtins.NUMERIC
    ? parseNumeric
    : (pg.types.getTypeParser(oid) as (text: string) => unknown);

export const camelCase = (column: string): string =>
  column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function camelRows({ fields, rows }: pg.QueryResult): Row[] {
  const names = fields.map(({ name }): [string, string] => [name, camelCase(name)]);
  if (rows.length === 0 || names.every(([name, camel]) => name === camel)) return rows;
  return rows.map((row) => {
    const camel: Row = {};
    for (const [name, to] of names) camel[to] = row[name];
    return camel;
  });
}

/** What a value of each type may be. */
type ColumnValues = {
  text: string | null;
  numeric: bigint | string | null;
  int: number | bigint | null;
  bigint: number | bigint | string | null;
  bool: boolean | null;
  timestamptz: Date | null;
  uuid: string | null;
  /** As text: `JSON.stringify` of a value. */
  json: string | null;
  jsonb: string | null;
  bytea: Buffer | null;
};
type ColumnType = keyof ColumnValues;

/** A column's type, with its name before it where that is not the property's in snake_case. */
type Column = ColumnType | `${string} ${ColumnType}`;
type TypeOf<S extends Column> = S extends ColumnType
  ? S
  : S extends `${string} ${infer T extends ColumnType}`
    ? T
    : never;

type BulkRow<C extends Record<string, Column>> = { readonly [K in keyof C]: ColumnValues[TypeOf<C[K]>] };

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * The part of a statement that takes many rows, from the map of its columns:
 *
 *     const deposits = bulk({ id: 'deposit_id text', amount: 'numeric' });
 *     const insert = statement('deposits_insert', `${deposits.insertInto('deposits')} on conflict do nothing`);
 *     await trx.rows(insert, deposits.values([{ id, amount }]));
 *
 * @param first the number of the first parameter that the columns take
 */
export function bulk<const C extends Record<string, Column>>(map: C, first = 1) {
  const keys = Object.keys(map);
  const parts = keys.map((key) => {
    const [a = '', b] = String(map[key]).split(' ');
    return b === undefined ? { name: snakeCase(key), type: a } : { name: a, type: b };
  });
  const columns = parts.map(({ name }) => name).join(', ');
  const arrays = parts.map(({ type }, i) => `$${first + i}::${type}[]`).join(', ');
  const scalars = parts.map(({ type }, i) => `$${first + i}::${type}`).join(', ');
  const from = (alias: string) => `unnest(${arrays}) as ${alias} (${columns})`;
  return {
    /** `id, …`: the columns' names. */
    columns,
    /** `unnest($1::text[], …) as alias (id, …)`: what follows `from` in a statement that takes many rows. */
    from,
    /** The same, with the place of each row, counted from 1, in a column of this name. */
    numbered: (alias: string, column: string) =>
      `unnest(${arrays}) with ordinality as ${alias} (${columns}, ${column})`,
    /** The same for exactly one row, without arrays: Postgres plans it once, and plans arrays again for each length. */
    fromOne: (alias: string) => `(values (${scalars})) as ${alias} (${columns})`,
    /** `insert into table (id, …) select id, … from …` */
    insertInto: (table: string) =>
      `insert into ${table} (${columns}) select ${columns} from ${from('given')}`,
    /** The statement's values: an array for each column. Further parameters of the statement come after them. */
    values: (rows: readonly BulkRow<C>[]): unknown[] => keys.map((key) => rows.map((row) => row[key])),
    /** The values of a statement with `fromOne`. */
    valuesOfOne: (row: BulkRow<C>): unknown[] => keys.map((key) => row[key]),
  };
}
