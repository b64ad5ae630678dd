export type Row = Record<string, unknown>;

/** Answers of one statement, by its values and the versions of what it asks. */
type Answers = Map<string, readonly Row[]>;

/** What a statement does, as far as it decides whether its answer can be given again, and the answers that it had. */
type Reach = {
  asks: readonly string[];
  writes: readonly string[];
  isAnswer: boolean;
  isTimed: boolean;
  /** Answers of tables as the template has them. */
  always: Answers;
  inSeed: Answers;
  /** The seed whose answers `inSeed` are. */
  seed: number;
};

/** Most values are drawn again in each seed, so most of what is kept of the template is never asked again. */
const ALWAYS_MAX = 200;

/** How a read locks what it reads: one transaction at a time is open here. */
const LOCKING =
  /\bfor (no key )?(update|share|key share)( of \w+(, ?\w+)*)?( skip locked| nowait)?|\bdo update set\b/g;
const WRITES = /\b(?:insert into|update|delete from|merge into)\s+((?:\w+\.)?\w+)/g;
/** Calls whose answer follows from something else than rows, or that change something. */
const OTHERWISE = /\b(pg_\w+|nextval|setval|currval|lastval|random|set_config|current_setting)\b|\bnotify\b/;
const TIME = /\b(now|clock_timestamp|statement_timestamp|current_\w+|localtime\w*)\b/;
const NAMES = /\w+(?:\.\w+)?/g;

const textOf = (rows: readonly Row[]): string =>
  JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));

function assertSame(text: string, known: readonly Row[], asked: readonly Row[]): void {
  const [before, now] = [textOf(known), textOf(asked)];
  if (before !== now) throw new Error(`invariant broken: remembered ${before}, and it is ${now}: ${text}`);
}

/**
 * Answers that are given again: a read that was asked before, with the same values, of tables that nobody has written
 * to since, has the same answer. Each table has a version, which every write makes a new one and a rollback makes the
 * old one again; what no seed has written to yet is as the template has it, for all seeds.
 */
export class Remembered {
  /** The table that a name in a statement means. */
  readonly #tables: ReadonlyMap<string, string>;
  readonly #functions: ReadonlySet<string>;
  readonly #reaches = new Map<string, Reach>();
  readonly #versions = new Map<string, number>();
  /** The versions before a transaction, of those that it has changed. */
  #before: Map<string, number> | undefined;
  #last = 0;
  #seed = 0;
  #isBroken = false;
  /** Asks all the same, and is a defect if the answer is another. */
  doubts = false;

  constructor(tables: ReadonlyMap<string, string>, functions: ReadonlySet<string>) {
    this.#tables = tables;
    this.#functions = functions;
  }

  /** The template has changed. */
  forget(): void {
    for (const { always } of this.#reaches.values()) always.clear();
    this.beginSeed();
  }

  beginSeed(): void {
    this.#seed += 1;
    this.#versions.clear();
    this.#before = undefined;
    this.#isBroken = false;
  }

  begin(): void {
    this.#before = new Map();
  }

  rollback(): void {
    for (const [table, version] of this.#before ?? []) this.#versions.set(table, version);
    this.#before = undefined;
    this.#isBroken = false;
  }

  /** In a transaction that has failed, Postgres answers nothing any more. */
  failed(): void {
    this.#isBroken = true;
  }

  /** The answer to `text`, as `ask` gives it unless it is known. */
  answer(text: string, values: readonly (string | Buffer | null)[], now: number, ask: () => Row[]): Row[] {
    const reach = this.#reachOf(text);
    if (!reach.isAnswer || this.#isBroken) {
      for (const table of reach.writes) this.#write(table);
      return ask();
    }
    let key = reach.isTimed ? `${now}` : '';
    let isOfTemplate = true;
    for (const table of reach.asks) {
      const version = this.#versions.get(table) ?? 0;
      if (version !== 0) isOfTemplate = false;
      key += `,${version}`;
    }
    for (const value of values) key += value === null ? '\0\x01' : `\0${value.toString('latin1')}`;
    const known = isOfTemplate ? reach.always : this.#answersInSeed(reach);
    let rows = known.get(key);
    if (rows !== undefined && this.doubts) assertSame(text, rows, ask());
    if (rows === undefined) {
      rows = ask();
      if (isOfTemplate && known.size >= ALWAYS_MAX) known.clear();
      known.set(key, rows);
    }
    return rows.map((row) => ({ ...row }));
  }

  #write(table: string): void {
    this.#last += 1;
    if (this.#before?.has(table) === false) this.#before.set(table, this.#versions.get(table) ?? 0);
    this.#versions.set(table, this.#last);
  }

  #answersInSeed(reach: Reach): Answers {
    if (reach.seed !== this.#seed) reach.inSeed.clear();
    reach.seed = this.#seed;
    return reach.inSeed;
  }

  #reachOf(text: string): Reach {
    const known = this.#reaches.get(text);
    if (known !== undefined) return known;
    const plain = text.replaceAll(LOCKING, ' ');
    const names = plain.match(NAMES) ?? [];
    const tablesOf = (of: readonly string[]) => [
      ...new Set(of.flatMap((name) => this.#tables.get(name) ?? [])),
    ];
    const targets = [...plain.matchAll(WRITES)].map(([, name = '']) => name);
    const strange = targets.find((name) => !this.#tables.has(name));
    if (strange !== undefined) throw new Error(`no table ${strange} is known, which is written to: ${text}`);
    const callsOurs = names.some((name) => this.#functions.has(name));
    const reach: Reach = {
      asks: tablesOf(names),
      // What a function of ours does is not seen from here.
      writes: tablesOf(callsOurs ? [...this.#tables.keys()] : targets),
      isAnswer: targets.length === 0 && !callsOurs && !OTHERWISE.test(plain),
      isTimed: TIME.test(plain),
      always: new Map(),
      inSeed: new Map(),
      seed: this.#seed,
    };
    this.#reaches.set(text, reach);
    return reach;
  }
}
