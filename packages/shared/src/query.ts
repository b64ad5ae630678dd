import { parse } from 'node:querystring';

type Query = Record<string, unknown>;

/**
 * Reads a query as PHP does: given twice, the last one counts; `name[]` and `name[key]` make `name` an array,
 * so that a filter that takes none says so instead of being ignored. Those in `lists` may be given several times.
 */
export function readQuery(text: string, lists: readonly string[]): Query {
  const query: Query = Object.create(null);
  for (const [given, value = ''] of Object.entries(parse(text))) {
    const [, name = given, key] = /^([^[]+)\[(.*)\]$/.exec(given) ?? [];
    if (key === undefined && !lists.includes(name)) query[name] = Array.isArray(value) ? value.at(-1) : value;
    else if (key === undefined) query[name] = value;
    else query[name] = [...arrayOf(query[name]), ...arrayOf(value)];
  }
  return query;
}

const arrayOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];
