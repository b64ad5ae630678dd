export type Row = Record<string, unknown>;

/** What a statement does, as far as it decides whether its answer can be given again. */
type Reach = { asks: readonly string[]; writes: readonly string[]; isAnswer: boolean; isTimed: boolean };

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
  /** Answers of tables as the template has them. */
  readonly #always = new Map<string, readonly Row[]>();
  readonly #inSeed = new Map<string, readonly Row[]>();
  #versions = new Map<string, number>();
  #before: Map<string, number> | undefined;
  #last = 0;
  #isBroken = false;
  /** Asks all the same, and is a defect if the answer is another. */
  doubts = false;

  constructor(tables: ReadonlyMap<string, string>, functions: ReadonlySet<string>) {
    this.#tables = tables;
    this.#functions = functions;
  }

  /** The template has changed. */
  forget(): void {
    this.#always.clear();
    this.beginSeed();
  }

  beginSeed(): void {
    this.#inSeed.clear();
    this.#versions = new Map();
    this.#before = undefined;
    this.#isBroken = false;
  }

  begin(): void {
    this.#before = new Map(this.#versions);
  }

  rollback(): void {
    if (this.#before !== undefined) this.#versions = this.#before;
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
      this.#last += 1;
      for (const table of reach.writes) this.#versions.set(table, this.#last);
      return ask();
    }
    const versions = reach.asks.map((table) => this.#versions.get(table) ?? 0);
    const said = values.map((value) => (value === null ? '\x01' : value.toString('latin1'))).join('\0');
    const key = `${text}\0${said}\0${reach.isTimed ? now : ''}\0${versions.join()}`;
    const known = versions.every((version) => version === 0) ? this.#always : this.#inSeed;
    let rows = known.get(key);
    if (rows !== undefined && this.doubts) assertSame(text, rows, ask());
    if (rows === undefined) {
      rows = ask();
      known.set(key, rows);
    }
    return rows.map((row) => ({ ...row }));
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
    };
    this.#reaches.set(text, reach);
    return reach;
  }
}
