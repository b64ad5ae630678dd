import { InvalidRequestError } from '@quittance/client';

/**
 * What the API says of each field of a form, under the field's name there; nothing of an error of another kind. What it says of an
 * entry of a list of texts, such as `allowed_ips.0`, is said of the list. Its hint is about the field when only one is wrong.
 */
export function errorsOf(error: unknown): Record<string, string> {
  if (!(error instanceof InvalidRequestError)) return {};
  const found = Object.entries(error.errors);
  const hint = found.length === 1 && error.hint !== undefined ? [error.hint] : [];
  const errors: Record<string, string> = {};
  for (const [name, texts] of found) {
    const [, list, place] = /^(.+)\.(\d+)$/.exec(name) ?? [];
    const field = list ?? name;
    // eslint-disable-next-line no-restricted-syntax -- the place in a list
    const entry = place === undefined ? [] : [`(entry ${Number.parseInt(place, 10) + 1})`];
    errors[field] = [errors[field], ...texts, ...hint, ...entry].filter(Boolean).join(' ');
  }
  return errors;
}
