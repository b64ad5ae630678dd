import type { Knex } from 'knex';
import { z } from 'zod';
import { type Queryable, query } from './db.ts';
import { type Form, form } from './form.ts';
import { rules } from './validation.ts';

const PER_PAGE_DEFAULT = 10;
const PER_PAGE_MAX = 100;
const ON_EACH_SIDE = 3;

type Query = Record<string, unknown>;

/** What `perPage` must be; other filters join it in the list's own form. */
export const perPageField = rules.integer(1, PER_PAGE_MAX).or(PER_PAGE_DEFAULT);

/** Lists read `page` by themselves, see `pageOf`. */
export const paged = { alsoKnown: ['page'] };

export const pageForm: Form<{ perPage: typeof perPageField }> = form({ perPage: perPageField }, paged);

/** Past the end of every list, and as exact as any number. */
const PAGE_MAX = 999_999_999_999_999;

/** What `pageOf` reads, for the reference. */
export const pageField = z.unknown().optional().meta({ type: 'integer', minimum: 1, 'x-default': 1 });

/** A page that is no number or below 1 is page 1, as Laravel has it. */
export function pageOf(query: Query): number {
  const text = query['page'];
  // eslint-disable-next-line no-restricted-syntax -- a page's number
  const page = typeof text === 'string' && /^\d+$/.test(text) ? Number.parseInt(text, 10) : 1;
  return Math.min(Math.max(page, 1), PAGE_MAX);
}

/**
 * Up to here a list's total is exact. Counting reads every row of the list at each of its pages: a long list would cost
 * its reader, and everybody beside, more with each row.
 */
export const TOTAL_EXACT_MAX = 10_000;

/** Where a page lies in its list. */
export type Place = { limit: number; offset: number };

export const placeOf = (page: number, perPage: number): Place => ({
  limit: perPage,
  offset: (page - 1) * perPage,
});

/** The statement that counts a list, no further than its total is exact. `rows` is what follows `from`. */
export const countOf = (rows: string): string =>
  `select count(*)::int as total from (select 1 from ${rows} limit ${TOTAL_EXACT_MAX}) as counted`;

/**
 * The page and the total of a list.
 * @param counted by `countOf`
 * @param found the rows at the page's place, one more than it shows where there are more: a longer list has as many as
 *   were counted and seen, so that its next page is always linked and its total never too high
 */
export function pageOfFound<T>(
  counted: number,
  { limit, offset }: Place,
  found: readonly T[],
): { items: T[]; total: number } {
  const seen = found.length === 0 ? 0 : offset + found.length;
  const total = counted < TOTAL_EXACT_MAX ? counted : Math.max(counted, seen);
  return { items: found.slice(0, limit), total };
}

export type List = {
  table: string;
  /** A column that names a row. */
  key: string;
  /** What a row shows, as SQL. */
  columns: string;
  /** The value that each of these columns must have; a column whose value is null is not asked about. */
  where: Readonly<Record<string, string | null>>;
  /** Columns, all of them descending. */
  newestFirst: readonly string[];
};

/**
 * Composes SQL; it has no connection. Loaded when a list is first read: its 330 modules take as long as an eighth of a start, and
 * 20 MB of each process.
 */
const loadComposer = (): Promise<Knex> =>
  (composer ??= import('knex').then(({ default: knex }) => knex({ client: 'pg' })));
let composer: Promise<Knex> | undefined;

const composed = <R extends object>(db: Queryable, list: Knex.QueryBuilder): Promise<R[]> => {
  const { sql, bindings } = list.toSQL().toNative();
  // Without a name: a prepared statement would be planned for no filter in particular.
  return db.rows(query<R>('', sql), bindings);
};

/** One page of a filtered list, newest first, and its total, which is exact up to `TOTAL_EXACT_MAX`. */
export async function listPage<R extends object>(
  db: Queryable,
  { table, key, columns, where, newestFirst }: List,
  place: Place,
): Promise<{ items: R[]; total: number }> {
  const wanted = Object.fromEntries(Object.entries(where).filter(([, value]) => value !== null));
  const order = newestFirst.map((column) => ({ column, order: 'desc' }));
  const compose = await loadComposer();
  const some = compose(table).where(wanted).select(compose.raw('1')).limit(TOTAL_EXACT_MAX).as('counted');
  const [counted] = await composed<{ total: number }>(
    db,
    compose(some).select(compose.raw('count(*)::int as total')),
  );
  const total = counted?.total ?? 0;
  if (total < TOTAL_EXACT_MAX && place.offset >= total) return { items: [], total };
  // The page's keys come from an index, and only its own rows are read.
  const keys = compose(table)
    .where(wanted)
    .select(key)
    .orderBy(order)
    .limit(place.limit + 1)
    .offset(place.offset)
    .as('page');
  const rows = compose(table)
    .select(compose.raw(columns))
    .innerJoin(keys, `page.${key}`, `${table}.${key}`)
    .orderBy(order);
  return pageOfFound(total, place, await composed<R>(db, rows));
}

export type PageParts<T> = {
  data: T[];
  total: number;
  page: number;
  perPage: number;
  /** The list's own URL without a query. */
  path: string;
  /** The query of the request: links keep its filters. */
  query: Query;
};

/** Laravel 8's form of a paginated resource. */
export function pageView<T>({ data, total, page, perPage, path, query }: PageParts<T>) {
  const last = Math.max(1, Math.ceil(total / perPage));
  const urlOf = (number: number): string => {
    const kept = Object.entries(query).flatMap(([name, value]): [string, string][] => {
      if (name === 'page') return [];
      if (Array.isArray(value)) return value.map((one) => [`${name}[]`, String(one)]);
      return typeof value === 'string' ? [[name, value]] : [];
    });
    return `${path}?${new URLSearchParams([...kept, ['page', String(number)]]).toString()}`;
  };
  const prev = page > 1 ? urlOf(page - 1) : null;
  const next = page < last ? urlOf(page + 1) : null;
  const first = data.length === 0 ? null : (page - 1) * perPage + 1;
  return {
    data,
    links: { first: urlOf(1), last: urlOf(last), prev, next },
    meta: {
      current_page: page,
      from: first,
      last_page: last,
      links: [
        { url: prev, label: '&laquo; Previous', active: false },
        ...windowOf(page, last).map((number) =>
          number === null
            ? { url: null, label: '...', active: false }
            : { url: urlOf(number), label: String(number), active: number === page },
        ),
        { url: next, label: 'Next &raquo;', active: false },
      ],
      path,
      per_page: perPage,
      to: first === null ? null : first + data.length - 1,
      total,
    },
  };
}

/** Which page numbers are linked; null stands for "...". */
function windowOf(page: number, last: number): (number | null)[] {
  const range = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i);
  if (last < ON_EACH_SIDE * 2 + 8) return range(1, last);
  const edge = ON_EACH_SIDE + 4;
  if (page <= edge) return [...range(1, edge + ON_EACH_SIDE), null, last - 1, last];
  if (page > last - edge) return [1, 2, null, ...range(last - (edge + ON_EACH_SIDE - 1), last)];
  return [1, 2, null, ...range(page - ON_EACH_SIDE, page + ON_EACH_SIDE), null, last - 1, last];
}
