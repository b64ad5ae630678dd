import { form } from '@quittance/shared/form';
import { contextOf, unknownParameters, withList } from '@quittance/shared/http';
import { type Answer, accessAnswers, answers, send } from '@quittance/shared/http-answers';
import { messages, rules } from '@quittance/shared/validation';
import type { Express, RequestHandler } from 'express';
import { eventTypes } from '../domain/event-types.ts';
import { answerHead, streamLimits } from '../event-streams.ts';
import { listEvents, openEventStream, readEvent } from '../operations/events.ts';
import type { Ports } from '../ports.ts';
import { eventView } from '../views.ts';
import { ownerAndId } from './endpoints.ts';

const STREAM_RETRY_AFTER_SECONDS = '5';

const refusals = {
  event: accessAnswers('Event'),
  stream: {
    too_many_of_account: answers.overLimit(
      'too_many_streams',
      `An account may have ${streamLimits.perAccount} streams at a time. Close one first.`,
      STREAM_RETRY_AFTER_SECONDS,
    ),
    too_many: answers.unavailableBecause(
      'There are as many streams as this server can hold. Try again in a moment.',
      STREAM_RETRY_AFTER_SECONDS,
    ),
    closing: answers.unavailable,
  },
} satisfies Record<string, Record<string, Answer>>;

// eslint-disable-next-line no-restricted-syntax -- sequence numbers, below 2^53 as in JSON
const numberOf = (sequence: string): number => Number(sequence);

const afterTheEnd = ({ last }: { last: string }): Answer => {
  const hint = `The last event of the account has the sequence ${last}: give ${last} or less.`;
  return answers.invalid({ after: [messages.atMost('after', last, hint)] });
};

/** The events of a merchant, in pages and as a stream. */
export function routeEvents(app: Express, merchant: RequestHandler, ports: Ports): void {
  app.get('/api/events', merchant, async (req, res) => {
    const read = readEventsQuery(req.query);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const { created_from: from, created_to: to, kinds: eventTypes, ...others } = read.value;
    const wanted = { ...others, eventTypes, from, to };
    const listed = await listEvents(ports, contextOf(res).identity.account, wanted);
    if (!listed.ok) return send(res, afterTheEnd(listed.refusal));
    const found = listed.value;
    const meta = {
      has_more: found.hasMore,
      next_after: numberOf(found.nextAfter),
      first_sequence: numberOf(found.firstSequence),
      last_sequence: numberOf(found.lastSequence),
    };
    send(res, { status: 200, body: { data: found.events.map(eventView), meta } });
  });

  app.get('/api/events/stream', merchant, async (req, res) => {
    const read = readStreamQuery(req.query, req.get('Last-Event-ID'));
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    if (req.method === 'HEAD') return answerHead(res);
    const { after, kinds } = read.value;
    const wanted = { after: after ?? undefined, eventTypes: kinds };
    const opened = await openEventStream(ports, res, contextOf(res).identity.account, wanted);
    if (opened.ok) return;
    if (typeof opened.refusal === 'string') return send(res, refusals.stream[opened.refusal]);
    send(res, afterTheEnd(opened.refusal));
  });

  app.get('/api/events/:id', merchant, async (req, res) => {
    const found = await readEvent(ports, ...ownerAndId(req, res));
    if (!found.ok) return send(res, refusals.event[found.refusal]);
    send(res, unknownParameters(req) ?? { status: 200, body: eventView(found.value) });
  });
}

type Query = Record<string, unknown>;

const EVENTS_LIMIT_MAX = 500;
const EVENTS_LIMIT_DEFAULT = 100;

export const eventsForm = form({
  after: rules.integer(0, Number.MAX_SAFE_INTEGER).or(0),
  limit: rules.integer(1, EVENTS_LIMIT_MAX).or(EVENTS_LIMIT_DEFAULT),
  kinds: rules.listOf(eventTypes).optional,
  created_from: rules.date().optional,
  created_to: rules.date().optional,
});

const readEventsQuery = (query: Query) => eventsForm(withList(query, 'kinds'));

export const streamForm = form({
  after: rules.integer(0, Number.MAX_SAFE_INTEGER).optional,
  kinds: rules.listOf(eventTypes).optional,
});

/** @param lastEventId the header of a client that reconnects: it overrides the start in the URL */
const readStreamQuery = (query: Query, lastEventId: string | undefined) =>
  streamForm({ ...withList(query, 'kinds'), after: lastEventId || query['after'] });
