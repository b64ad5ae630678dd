import { form, rules } from '@quittance/shared/validation';
import { tellableKinds } from './domain/kinds.ts';

type Query = Record<string, unknown>;

const EVENTS_LIMIT_MAX = 500;
const EVENTS_LIMIT_DEFAULT = 100;

const eventsForm = form({
  after: rules.integer(0, Number.MAX_SAFE_INTEGER).or(0),
  limit: rules.integer(1, EVENTS_LIMIT_MAX).or(EVENTS_LIMIT_DEFAULT),
  kinds: rules.listOf(tellableKinds).optional,
  created_from: rules.date().optional,
  created_to: rules.date().optional,
});

export const readEventsQuery = (query: Query) => eventsForm(withKinds(query));

const streamForm = form({
  after: rules.integer(0, Number.MAX_SAFE_INTEGER).optional,
  kinds: rules.listOf(tellableKinds).optional,
});

/** @param lastEventId the header of a client that comes back: it has had more than when it first came */
export const readStreamQuery = (query: Query, lastEventId: string | undefined) =>
  streamForm({ ...withKinds(query), after: lastEventId || query['after'] });

/** `kinds` is a list with commas, or given several times. */
function withKinds(query: Query): Query {
  const { kinds } = query;
  return { ...query, kinds: typeof kinds === 'string' && kinds !== '' ? kinds.split(',') : kinds };
}
