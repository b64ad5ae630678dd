import { pageForm, pageOf } from '@quittance/shared/pages';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, form, rules } from '@quittance/shared/validation';
import { defaultKinds, tellableKinds } from './domain/kinds.ts';
import { mayBePublic } from './public-address.ts';

type Query = Record<string, unknown>;

const URL_CHARACTERS_MAX = 2_048;
const EVENTS_LIMIT_MAX = 500;
const EVENTS_LIMIT_DEFAULT = 100;

const endpointForm = form({
  url: rules.url(URL_CHARACTERS_MAX).required,
  events: rules.listOf(tellableKinds).or(defaultKinds),
  description: rules.text(255).optional,
});

type EndpointFields = { url: string; events: string[]; description: string | null };

/** A new endpoint; unless `insecureToo`, its URL must be https and must not name a private address. */
export function readEndpointForm(body: unknown, insecureToo: boolean): Result<EndpointFields, FieldErrors> {
  const read = endpointForm(body);
  const url = read.ok ? read.value.url : urlIn(body, read.refusal);
  const problem = url === undefined ? undefined : problemOf(url, insecureToo);
  if (problem === undefined) return read;
  return refuse({ url: [problem], ...(read.ok ? {} : read.refusal) });
}

/** The URL of a body whose other fields were refused: its own problems are listed with theirs. */
function urlIn(body: unknown, refusal: FieldErrors): string | undefined {
  if (refusal['url'] !== undefined) return undefined;
  const { url } = body as { url: string };
  return url;
}

function problemOf(text: string, insecureToo: boolean): string | undefined {
  const url = new URL(text);
  // A name and password would be shown in every list.
  if (url.username !== '' || url.password !== '') return 'The url must be a valid URL.';
  if (insecureToo) return undefined;
  if (url.protocol !== 'https:') return 'The url must start with one of the following: https://.';
  return mayBePublic(url.hostname) ? undefined : 'The url must not point to a private address.';
}

export function readPage(query: Query): Result<{ page: number; perPage: number }, FieldErrors> {
  const read = pageForm(query);
  return read.ok ? ok({ page: pageOf(query), perPage: read.value.perPage }) : read;
}

const eventsForm = form({
  after: rules.integer(0, Number.MAX_SAFE_INTEGER).or(0),
  limit: rules.integer(1, EVENTS_LIMIT_MAX).or(EVENTS_LIMIT_DEFAULT),
  kinds: rules.listOf(tellableKinds).optional,
});

/** `kinds` is a list with commas, or given several times. */
export function readEventsQuery(query: Query) {
  const { kinds } = query;
  const listed = typeof kinds === 'string' && kinds !== '' ? kinds.split(',') : kinds;
  return eventsForm({ ...query, kinds: listed });
}
