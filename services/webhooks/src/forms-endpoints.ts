import { pageForm, pageOf } from '@quittance/shared/pages';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type Field, type FieldErrors, form, rules } from '@quittance/shared/validation';
import { defaultKinds, tellableKinds } from './domain/kinds.ts';
import { isHost, mayBePublic } from './public-address.ts';

const URL_CHARACTERS_MAX = 2_048;
const DESCRIPTION_CHARACTERS_MAX = 255;
/** As long as a receiver may take to learn a new secret, unless it asks for less. */
const OVERLAP_HOURS_MAX = 24;

const endpointForm = form({
  url: rules.url(URL_CHARACTERS_MAX).required,
  events: rules.listOf(tellableKinds).or(defaultKinds),
  description: rules.text(DESCRIPTION_CHARACTERS_MAX).optional,
});

type EndpointFields = { url: string; events: string[]; description: string | null };

/** A new endpoint; unless `insecureToo`, its URL must be https and must not name a private address. */
export const readEndpointForm = (body: unknown, insecureToo: boolean): Result<EndpointFields, FieldErrors> =>
  judged(endpointForm(body), body, insecureToo);

const changeFields: Record<string, Field<unknown>> = {
  url: rules.url(URL_CHARACTERS_MAX).required,
  events: rules.listOf(tellableKinds).required,
  description: rules.text(DESCRIPTION_CHARACTERS_MAX).optional,
  enabled: rules.boolean().required,
};

export type EndpointChanges = Partial<EndpointFields & { enabled: boolean }>;

/** What is to be different about an endpoint: a field that is not named stays, and naming none changes nothing. */
export function readEndpointChanges(
  body: unknown,
  insecureToo: boolean,
): Result<EndpointChanges, FieldErrors> {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const named = Object.entries(changeFields).filter(([name]) => isObject && Object.hasOwn(body, name));
  const read = form(Object.fromEntries(named))(body);
  return judged(read as Result<EndpointChanges, FieldErrors>, body, insecureToo);
}

/** Adds what is wrong with the URL itself: its own problems are listed with those of the other fields. */
function judged<T extends { url?: string }>(
  read: Result<T, FieldErrors>,
  body: unknown,
  insecureToo: boolean,
): Result<T, FieldErrors> {
  const url = read.ok ? read.value.url : urlIn(body, read.refusal);
  const problem = url === undefined ? undefined : problemOf(url, insecureToo);
  if (problem === undefined) return read;
  return refuse({ url: [problem], ...(read.ok ? {} : read.refusal) });
}

/** The URL of a body whose other fields were refused, as its rules have read it. */
function urlIn(body: unknown, refusal: FieldErrors): string | undefined {
  if (refusal['url'] !== undefined) return undefined;
  const { url } = body as { url?: string };
  return url?.trim();
}

function problemOf(text: string, insecureToo: boolean): string | undefined {
  const url = new URL(text);
  // A name and password would be shown in every list.
  if (url.username !== '' || url.password !== '') return 'The url must be a valid URL.';
  if (insecureToo) return undefined;
  if (url.protocol !== 'https:') return 'The url must start with one of the following: https://.';
  if (!isHost(url.hostname)) return 'The url must be a valid URL.';
  return mayBePublic(url.hostname) ? undefined : 'The url must not point to a private address.';
}

export function readPage(
  query: Record<string, unknown>,
): Result<{ page: number; perPage: number }, FieldErrors> {
  const read = pageForm(query);
  return read.ok ? ok({ page: pageOf(query), perPage: read.value.perPage }) : read;
}

/** For how many hours the former secrets stay good. */
export const readRotation = form({
  overlap_hours: rules.integer(0, OVERLAP_HOURS_MAX).or(OVERLAP_HOURS_MAX),
});
