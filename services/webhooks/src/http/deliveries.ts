import { form } from '@quittance/shared/form';
import {
  contextOf,
  readBody,
  takesNoParameters,
  unknownInput,
  unknownParameters,
} from '@quittance/shared/http';
import { type Answer, accessAnswers, answers, send } from '@quittance/shared/http-answers';
import { refuse } from '@quittance/shared/result';
import { rules } from '@quittance/shared/validation';
import type { Express, RequestHandler } from 'express';
import { deliveryStates } from '../domain/delivery.ts';
import { eventTypes } from '../domain/event-types.ts';
import {
  listDeliveries,
  REPLAYED_EVENTS_MAX,
  REPLAYED_PER_DAY_MAX,
  type ReplayRefusal,
  readDelivery,
  redeliver,
  replayEvents,
} from '../operations/deliveries.ts';
import type { Ports } from '../ports.ts';
import { deliveryView } from '../views.ts';
import { ownEndpoint, ownerAndId } from './endpoints.ts';

const isDisabled = answers.conflict('The webhook is disabled: enable it first.');

const refusals = {
  list: accessAnswers('Webhook'),
  delivery: accessAnswers('Delivery'),
  redelivery: {
    ...accessAnswers('Delivery'),
    sending: answers.conflict('The delivery is being sent: ask again when that has ended.'),
    disabled: isDisabled,
    deleted: answers.conflict('The webhook was deleted: read the event with GET /api/events/{id}.'),
  },
  replay: {
    ...accessAnswers('Webhook'),
    deleted: answers.conflict('The webhook was deleted: read the events with GET /api/events.'),
    disabled: isDisabled,
    too_many: answers.invalid({
      to: [
        {
          message: `The range must not have more than ${REPLAYED_EVENTS_MAX} events: narrow it.`,
          hint: 'Ask for the range in several parts.',
        },
      ],
    }),
  },
} satisfies Record<string, Record<string, Answer>>;

function refusedReplay(refusal: ReplayRefusal, now: Date): Answer {
  if (typeof refusal === 'string') return refusals.replay[refusal];
  const { until } = refusal;
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1_000));
  return answers.overLimit(
    'replay_limit',
    `The replays of an account may queue ${REPLAYED_PER_DAY_MAX} deliveries a day. Narrow the range, or ask again after ${until.toISOString()}: what is queued already stays queued.`,
    String(seconds),
  );
}

/** The deliveries of a merchant's endpoints, redelivery and replay. */
export function routeDeliveries(app: Express, merchant: RequestHandler, ports: Ports): void {
  const own = ownEndpoint(ports);

  app.get('/api/webhooks/:id/deliveries', merchant, own, async (req, res) => {
    const read = readDeliveriesQuery(req.query);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const { event: kind, ...wanted } = read.value;
    const found = await listDeliveries(ports, ...ownerAndId(req, res), {
      ...wanted,
      kind,
    });
    if (!found.ok) return send(res, refusals.list[found.refusal]);
    const { deliveries, nextBefore } = found.value;
    // eslint-disable-next-line no-restricted-syntax -- a sequence number, below 2^53 as in JSON
    const meta = { has_more: nextBefore !== null, next_before: nextBefore && Number(nextBefore) };
    send(res, { status: 200, body: { data: deliveries.map(deliveryView), meta } });
  });

  app.post('/api/webhooks/:id/replay', merchant, ...readBody, own, takesNoParameters, async (req, res) => {
    const read = readReplay(contextOf(res).body, ports.clock.now());
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const { from, to, events, include_delivered: includeDelivered } = read.value;
    const request = { from, to, eventTypes: events, includeDelivered };
    const replayed = await replayEvents(ports, ...ownerAndId(req, res), request);
    if (!replayed.ok) return send(res, refusedReplay(replayed.refusal, ports.clock.now()));
    const { queued, alreadyWaiting, alreadyDelivered } = replayed.value;
    const data = { queued, already_waiting: alreadyWaiting, already_delivered: alreadyDelivered };
    send(res, { status: 202, body: { message: 'Replay queued successfully.', data } });
  });

  app.get('/api/deliveries/:id', merchant, async (req, res) => {
    const found = await readDelivery(ports, ...ownerAndId(req, res));
    if (!found.ok) return send(res, refusals.delivery[found.refusal]);
    send(res, unknownParameters(req) ?? { status: 200, body: deliveryView(found.value) });
  });

  app.post('/api/deliveries/:id/redeliver', merchant, ...readBody, async (req, res) => {
    const found = await readDelivery(ports, ...ownerAndId(req, res));
    if (!found.ok) return send(res, refusals.delivery[found.refusal]);
    const refused = unknownInput(req, res);
    if (refused !== undefined) return send(res, refused);
    const begun = await redeliver(ports, ...ownerAndId(req, res));
    if (!begun.ok) return send(res, refusals.redelivery[begun.refusal]);
    const data = deliveryView(begun.value);
    send(res, { status: 202, body: { message: 'Delivery queued successfully.', data } });
  });
}

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;
const DAY = 24 * 3_600_000;
/** Older events are not kept. */
const REPLAYED_DAYS_MAX = 90;

/** The filters of a list of deliveries. `before` is a sequence number. */
export const readDeliveriesQuery = form({
  status: rules.oneOf(deliveryStates).optional,
  event: rules.oneOf(eventTypes).optional,
  before: rules.integer(1, Number.MAX_SAFE_INTEGER).optional,
  limit: rules.integer(1, LIMIT_MAX).or(LIMIT_DEFAULT),
});

export const replayForm = form({
  from: rules.date().required,
  to: rules.date().required,
  events: rules.listOf(eventTypes).optional,
  include_delivered: rules.boolean().or(false),
});

/** Reads a replay. Its time range must not be empty, and its events must still be kept. */
function readReplay(body: unknown, now: Date): ReturnType<typeof replayForm> {
  const read = replayForm(body);
  if (!read.ok) return read;
  const { from, to } = read.value;
  const oldest = new Date(now.getTime() - REPLAYED_DAYS_MAX * DAY);
  if (from < oldest)
    return refuse({
      from: [
        {
          message: `The from must be a date after or equal to ${oldest.toISOString()}.`,
          hint: `Events are kept for ${REPLAYED_DAYS_MAX} days.`,
        },
      ],
    });
  if (from >= to) {
    return refuse({ to: [{ message: 'The to must be a date after from.', hint: 'Exchange from and to.' }] });
  }
  return read;
}
