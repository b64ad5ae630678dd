import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PGlite } from '@electric-sql/pglite';
import { isQuery, type Statement } from '@quittance/shared/db';
import { type Service, services } from '@quittance/shared/events';
import pg from 'pg';
import { serialize } from 'pg-protocol';
import { CONFIGURATION, ENVIRONMENT, SETTINGS } from './database-settings.ts';
import { keepFirstRows, rememberedFor, sequencesNow, toEmpty } from './database-template.ts';
import { type Prepared, readAnswer } from './postgres-answers.ts';
import { Remembered, type Row } from './remembered.ts';
import { openStored, type PostgresCode } from './stored-database.ts';
import { wireValue } from './wire-values.ts';

const root = new URL('../../', import.meta.url);
const foldersOf = (service: Service): string[] =>
  [new URL('packages/shared/migrations/', root), new URL(`services/${service}/migrations/`, root)].map(
    (folder) => fileURLToPath(folder),
  );

function migrationsOf(service: Service): string[] {
  const files = foldersOf(service).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.sql'))
      .sort()
      .map((name) => readFileSync(`${folder}/${name}`, 'utf8')),
  );
  return [
    `create role quittance_${service}; create schema ${service}; set search_path = ${service}, world, pg_catalog`,
    ...files,
  ];
}

const sync = serialize.sync();
const executeAll = serialize.execute({});

/** Postgres' class of errors for what is wrong with the text of a statement: its syntax, names and types. */
const isMeaningless = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code?.startsWith('42') === true;

/** A statement met a broken constraint where that undoes everything since the seed began: the seed is run once more. */
export class RunAgain extends Error {}

/**
 * Postgres itself, compiled to WASM and run in this process: every statement is a function call that ends before it
 * returns, so that nothing about it is left to an operating system. A seed runs inside one transaction that is rolled
 * back at its end; what the operations take for transactions are savepoints in it.
 */
export class SimDatabase {
  readonly #pglite: PGlite;
  readonly #prepared = new Map<string, Map<string, Prepared>>();
  readonly #fallible = new Set<string>();
  #ambiguous = /$^/g;
  #sequences = '';
  /** Takes back all that was written since the migrations. */
  #toEmpty = '';
  #made = 0;
  /** A savepoint that is to be set with the next statement, or released with it: a call less for each. */
  #toBegin = false;
  #toRelease = false;
  #now = 0;
  readonly #clock = (): number => this.#now;
  #remembered = new Remembered(new Map(), new Set());
  /** Statements that Postgres does not understand. A service retries them, so what follows in the scenario proves nothing. */
  readonly unparsed = new Set<string>();
  statements = 0;

  private constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  static async open(code?: PostgresCode): Promise<SimDatabase> {
    const present = services.filter((service) => foldersOf(service).every((folder) => existsSync(folder)));
    const pglite = await openStored({
      configuration: CONFIGURATION,
      statements: [ENVIRONMENT, SETTINGS, ...present.flatMap(migrationsOf)],
      finish: (made) => keepFirstRows(made, present),
      source: readFileSync(new URL('database-template.ts', import.meta.url), 'utf8'),
      code,
    });
    await pglite.exec(`${SETTINGS}; set search_path = world, ${present.join(', ')}, pg_catalog`);
    const database = new SimDatabase(pglite);
    const shared = await pglite.query<{ relname: string }>(
      `select relname from pg_class where relkind in ('r', 'S') and relnamespace::regnamespace::text = any($1)
       group by relname having count(*) > 1`,
      [present],
    );
    const names = shared.rows.map(({ relname }) => relname).join('|');
    database.#ambiguous = new RegExp(`\\b(from|join|into|update)(\\s+)(${names})\\b`, 'g');
    database.#remembered = await rememberedFor(pglite, present);
    database.#toEmpty = await toEmpty(pglite);
    await database.empty();
    database.#simple(`prepare_savepoint`, 'savepoint step');
    database.#simple(`prepare_release`, 'release step');
    database.#simple(`prepare_undo`, 'rollback to step');
    return database;
  }

  /** Ends the seed, and keeps what it wrote: that is where every seed begins from now on. */
  async keepAsTemplate(): Promise<void> {
    this.#send([serialize.query('commit')]);
    this.#toRelease = false;
    this.#remembered.forget();
    this.#sequences = await sequencesNow(this.#pglite);
    this.#simple('prepare_sequences', `select ${this.#sequences}`);
  }

  /** As the migrations left it: a template of another kind may be written. */
  async empty(): Promise<void> {
    if (this.#sequences !== '') await this.#pglite.exec('deallocate prepare_sequences');
    this.#sequences = '';
    await this.#pglite.exec(this.#toEmpty);
    this.#remembered.forget();
  }

  /** Takes away what the seeds so far have left behind. */
  async vacuum(): Promise<void> {
    await this.#pglite.exec('vacuum');
    await this.#pglite.exec('checkpoint');
  }

  /** Whether answers that are remembered are asked for all the same, and compared. */
  set doubts(doubts: boolean) {
    this.#remembered.doubts = doubts;
  }

  beginSeed(): void {
    this.#toBegin = false;
    this.#toRelease = false;
    this.#remembered.beginSeed();
    this.#send([serialize.query('begin')]);
    if (this.#sequences !== '') {
      this.#send([serialize.bind({ statement: 'prepare_sequences', values: [] }), executeAll, sync]);
    }
    this.statements = 0;
  }

  endSeed(): void {
    this.#send([serialize.query('rollback')]);
  }

  close(): Promise<void> {
    return this.#pglite.close();
  }

  /** What happens from now on happens at this time. */
  set now(ms: number) {
    this.#now = ms;
  }

  begin(): void {
    this.#toBegin = true;
    this.#remembered.begin();
  }

  commit(): void {
    if (!this.#toBegin) this.#toRelease = true;
    this.#toBegin = false;
  }

  rollback(): void {
    if (!this.#toBegin) {
      this.#send([
        serialize.bind({ statement: 'prepare_undo', values: [] }),
        executeAll,
        serialize.bind({ statement: 'prepare_release', values: [] }),
        executeAll,
      ]);
    }
    this.#toBegin = false;
    this.#remembered.rollback();
  }

  /** `within`: inside what `begin` began. */
  run(service: Service, sql: Statement | string, values: readonly unknown[], within: boolean): Row[] {
    const text = typeof sql === 'string' ? sql : sql.text;
    const prepared = this.#prepare(service, text, isQuery(sql));
    this.statements += 1;
    const wired = values.map(wireValue);
    const ask = () => this.#ask(prepared, sql, wired, within);
    return this.#remembered.answer(prepared.text, wired, this.#now, ask);
  }

  #ask(
    prepared: Prepared,
    sql: Statement | string,
    values: (string | Buffer | null)[],
    within: boolean,
  ): Row[] {
    const alone = !within && prepared.isFallible;
    if (alone) this.begin();
    const parts: Uint8Array[] = [];
    if (this.#toBegin) {
      if (this.#toRelease)
        parts.push(serialize.bind({ statement: 'prepare_release', values: [] }), executeAll);
      parts.push(serialize.bind({ statement: 'prepare_savepoint', values: [] }), executeAll);
      this.#toRelease = false;
      this.#toBegin = false;
    }
    parts.push(serialize.bind({ statement: prepared.name, values }), executeAll);
    try {
      const rows = this.#send(parts, prepared);
      if (alone) this.commit();
      return rows;
    } catch (error) {
      if (alone) this.rollback();
      else if (within) this.#remembered.failed();
      else {
        this.#fallible.add(typeof sql === 'string' ? sql : sql.text);
        prepared.isFallible = true;
        throw new RunAgain(
          `a statement failed on its own: ${typeof sql === 'string' ? sql : sql.name}: ${String(error)}`,
        );
      }
      throw error;
    }
  }

  #simple(name: string, text: string): void {
    this.#send([serialize.parse({ name, text, types: [] }), sync]);
  }

  #prepare(service: Service, text: string, isTyped: boolean): Prepared {
    const known = this.#prepared.get(service) ?? new Map<string, Prepared>();
    const found = known.get(text);
    if (found !== undefined) return found;
    this.#prepared.set(service, known);
    this.#made += 1;
    const name = `s${this.#made}`;
    const prepared: Prepared = {
      name,
      text: text.replaceAll(this.#ambiguous, `$1$2${service}.$3`),
      isTyped,
      parsers: [],
      fields: [],
      isFallible: this.#fallible.has(text) || (/\binsert into\b/.test(text) && !/\bon conflict\b/.test(text)),
    };
    try {
      this.#send(
        [
          serialize.parse({ name, text: prepared.text, types: [] }),
          serialize.describe({ type: 'S', name }),
          sync,
        ],
        prepared,
      );
    } catch (error) {
      if (isMeaningless(error)) this.unparsed.add(`${String(error)} in: ${text}`);
      throw error;
    }
    known.set(text, prepared);
    return prepared;
  }

  /** Postgres takes the time from here. Answers with what it said, piece by piece. */
  #call(message: Uint8Array): Buffer {
    const real = Date.now;
    const said: Buffer[] = [];
    const onRawData = (data: Uint8Array) => void said.push(Buffer.from(data));
    Date.now = this.#clock;
    try {
      // All of it happens before this returns; only what PGlite does with files would be waited for.
      void this.#pglite.execProtocolRawStream(message, { syncToFs: false, onRawData });
    } finally {
      Date.now = real;
    }
    return said.length === 1 ? (said[0] as Buffer) : Buffer.concat(said);
  }

  #send(parts: readonly Uint8Array[], prepared?: Prepared): Row[] {
    const bytes = this.#call(parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts));
    const { rows, failure } = readAnswer(bytes, prepared);
    if (failure !== undefined) {
      // Everything is ignored from a failure to the next of these; where all is well it would say nothing.
      this.#call(sync);
      throw failure;
    }
    return rows;
  }
}
