import { InvalidRequestError } from '@quittance/client';

/** What the API says of each field of a form, under the field's name there; nothing of an error of another kind. */
export function errorsOf(error: unknown): Record<string, string> {
  if (!(error instanceof InvalidRequestError)) return {};
  return Object.fromEntries(Object.entries(error.errors).map(([field, texts]) => [field, texts.join(' ')]));
}
