import type { Call, RequestOptions, Transport } from './transport.ts';

/** One page of a list. */
export type Page<T, Meta = unknown> = {
  data: T[];
  /** Whether more follow on the next page. */
  has_more: boolean;
  /** What the API says of the list, such as `total`, or `last_sequence` of events. */
  meta: Meta;
  /** The page after this one; undefined when this is the last. */
  nextPage(): Promise<Page<T, Meta>> | undefined;
};

/**
 * A list: `await` it for its first page, or go through all of it with `for await`. A list without an end is read as fast as the
 * API lets its pages through. Collect first what you then change: an item that changes can leave the list, and the items
 * after it move up.
 */
export type List<T, Meta = unknown> = Promise<Page<T, Meta>> & AsyncIterable<T>;

/** `meta` of a list with numbered pages. `total` is exact up to 10,000. */
export type PageMeta = { current_page: number; last_page: number; per_page: number; total: number };
/** `meta` of events. */
export type EventsMeta = {
  has_more: boolean;
  next_after: number;
  first_sequence: number;
  last_sequence: number;
};
/** `meta` of deliveries. */
export type DeliveriesMeta = { has_more: boolean; next_before: number | null };

type Query = Readonly<Record<string, unknown>>;
type Body<T, Meta> = { data: T[]; meta: Meta };

/** The query of the page after this one; undefined after the last. */
type Following<Answer> = (answer: Answer, query: Query) => Query | undefined;

const PER_PAGE = 100;

function list<T, Meta, Answer extends { data: T[] }>(
  transport: Transport,
  call: Pick<Call, 'path' | 'options'>,
  query: Query,
  following: Following<Answer>,
): List<T, Meta> {
  async function load(asked: Query): Promise<Page<T, Meta>> {
    const answer = await transport.json<Answer & { meta?: Meta }>({ method: 'GET', ...call, query: asked });
    const next = following(answer, asked);
    return {
      data: answer.data,
      has_more: next !== undefined,
      meta: answer.meta as Meta,
      nextPage: () => (next === undefined ? undefined : load(next)),
    };
  }
  const first = load(query);
  return Object.assign(first, { [Symbol.asyncIterator]: () => itemsFrom(first) });
}

const idOf = (item: unknown): unknown =>
  typeof item === 'object' && item !== null && 'id' in item ? item.id : undefined;

/** An item that moved to a later page, because newer ones were created meanwhile, comes once. */
async function* itemsFrom<T, Meta>(first: Promise<Page<T, Meta>>): AsyncGenerator<T, void, undefined> {
  const seen = new Set<unknown>();
  for (let page: Page<T, Meta> | undefined = await first; page !== undefined; page = await page.nextPage()) {
    for (const item of page.data) {
      const id = idOf(item);
      if (id !== undefined && seen.has(id)) continue;
      seen.add(id);
      yield item;
    }
  }
}

/** A list with `page` and `perPage`, of 100 items a page unless `query` says otherwise. */
export function pagedList<T>(
  transport: Transport,
  at: string,
  query: object | undefined,
  options?: RequestOptions,
): List<T, PageMeta> {
  type Answer = Body<T, PageMeta> & { links: { next: string | null } };
  return list<T, PageMeta, Answer>(
    transport,
    { path: at, options },
    { perPage: PER_PAGE, ...query },
    ({ links, meta }, asked) => (links.next === null ? undefined : { ...asked, page: meta.current_page + 1 }),
  );
}

/** Balance transactions: with `ending_before` they are read towards the newer ones, otherwise towards the older ones. */
export function transactionList<T extends { id: string }>(
  transport: Transport,
  at: string,
  query: object | undefined,
  options?: RequestOptions,
): List<T, undefined> {
  return list<T, undefined, { data: T[]; has_more: boolean }>(
    transport,
    { path: at, options },
    { limit: PER_PAGE, ...query },
    ({ data, has_more }, asked) => {
      const [first, last] = [data.at(0), data.at(-1)];
      if (!has_more || first === undefined || last === undefined) return undefined;
      return 'ending_before' in asked && asked['ending_before'] !== undefined
        ? { ...asked, ending_before: first.id }
        : { ...asked, starting_after: last.id };
    },
  );
}

/** Events, oldest first. */
export function eventList<T>(
  transport: Transport,
  at: string,
  query: object | undefined,
  options?: RequestOptions,
): List<T, EventsMeta> {
  return list<T, EventsMeta, Body<T, EventsMeta>>(
    transport,
    { path: at, options },
    { ...query },
    ({ meta }, asked) => (meta.has_more ? { ...asked, after: meta.next_after } : undefined),
  );
}

/** Deliveries of an endpoint, newest first. */
export function deliveryList<T>(
  transport: Transport,
  at: string,
  query: object | undefined,
  options?: RequestOptions,
): List<T, DeliveriesMeta> {
  return list<T, DeliveriesMeta, Body<T, DeliveriesMeta>>(
    transport,
    { path: at, options },
    { limit: PER_PAGE, ...query },
    ({ meta }, asked) =>
      meta.has_more && meta.next_before !== null ? { ...asked, before: meta.next_before } : undefined,
  );
}
