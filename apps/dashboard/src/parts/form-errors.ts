import { InvalidRequestError } from '@quittance/client';

/**
 * What the API says of each field of a form, under the field's name there; nothing of an error of another kind. Its hint is about
 * the field when only one is wrong.
 */
export function errorsOf(error: unknown): Record<string, string> {
  if (!(error instanceof InvalidRequestError)) return {};
  const found = Object.entries(error.errors);
  const hint = found.length === 1 && error.hint !== undefined ? [error.hint] : [];
  return Object.fromEntries(found.map(([field, texts]) => [field, [...texts, ...hint].join(' ')]));
}

/** The same for fields that hold lists: what is said of an item, such as `allowed_ips.0`, is said of its list. */
export function errorsOfLists(error: unknown): Record<string, string> {
  const lists: Record<string, string> = {};
  for (const [field, text] of Object.entries(errorsOf(error))) {
    const [list = field, item] = field.split('.');
    // eslint-disable-next-line no-restricted-syntax -- the place in a list
    const place = item !== undefined && /^\d+$/.test(item) ? ` (entry ${Number.parseInt(item, 10) + 1})` : '';
    lists[list] = [lists[list], text + place].filter(Boolean).join(' ');
  }
  return lists;
}
