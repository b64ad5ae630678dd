import { isDeepStrictEqual } from 'node:util';
import type { Trx } from '@quittance/shared/db';
import { sendStep } from '@quittance/shared/event-spans';
import { failpoint } from '@quittance/shared/failpoint';
import type { Span, Traced } from '@quittance/shared/traces';
import { healthAfter } from '../domain/circuit.ts';
import { envelopeOf } from '../domain/envelope.ts';
import { hasBeenFailing, type MailNotification } from '../domain/mail-notification.ts';
import {
  askedUntil,
  type DeliveryUpdate,
  deliveryAfter,
  outcomeOf,
  type SendResult,
} from '../domain/outcome.ts';
import { signatureHeaders } from '../endpoint-secrets.ts';
import type { Ports } from '../ports.ts';
import { type AttemptRow, recordEnds } from '../store/deliveries.ts';
import { type EndpointQueue, lockQueues, updateQueueHealth, wakeQueues } from '../store/endpoint-queues.ts';
import { disableEndpoints } from '../store/endpoints.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';
import { recordMailNotifications } from './mail-notifications.ts';

export type Attempt = { delivery: ClaimedDelivery; startedAt: Date; ms: number; result: SendResult };

/** Signs and sends one claimed delivery, once. A delivery that cannot be signed is not sent and counts as failed. */
export async function attemptDelivery(
  { clock, sender, logger, keyPairs }: Pick<Ports, 'clock' | 'sender' | 'logger' | 'keyPairs'>,
  delivery: ClaimedDelivery,
): Promise<Attempt> {
  const startedAt = clock.now();
  const start = performance.now();
  const { endpointId: endpoint, url, keys } = delivery.endpoint;
  if (keys.length === 0) {
    logger.error(
      { event: delivery.id, endpoint },
      'none of the secrets of an endpoint can be opened: WEBHOOK_SECRETS_KEY is not the one they were encrypted with',
    );
    return { delivery, startedAt, ms: 0, result: { kind: 'failed', failure: 'not_signed' } };
  }
  const privateKeys = keyPairs?.of(endpoint).map(({ privateKey }) => privateKey) ?? [];
  const body = envelopeOf(delivery);
  const result = await sender.send({
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Quittance-Webhooks/1',
      ...signatureHeaders([...keys, ...privateKeys], delivery.id, startedAt, body),
    },
    body,
  });
  failpoint('webhooks.sent');
  const ms = Math.round(performance.now() - start);
  const came = result.kind === 'answered' ? { status: result.status } : { came: result.kind };
  logger.debug({ event: delivery.id, kind: delivery.kind, endpoint, ...came, ms }, 'sent a webhook');
  return { delivery, startedAt, ms, result };
}

type Ended = { attempt: Attempt; update: DeliveryUpdate };

/** Records attempts, the next states of their deliveries, and the health of their endpoints. */
export async function recordAttempts(
  {
    db,
    clock,
    logger,
    tracer,
    attempted,
    mailer,
  }: Pick<Ports, 'db' | 'clock' | 'logger' | 'tracer' | 'attempted' | 'mailer'>,
  attempts: readonly Attempt[],
): Promise<void> {
  const now = clock.now();
  const recorded = await db.transaction(async (trx) => {
    const keys = new Set(attempts.map(({ delivery }) => delivery.endpointKey));
    const queues = await lockQueues(trx, [...keys]);
    const byKey = new Map(queues.map((queue) => [queue.endpointKey, queue]));
    const ends = attempts.map((attempt) => ({
      attempt,
      update: decide(attempt, byKey.get(attempt.delivery.endpointKey), now),
    }));
    const written = await recordEnds(trx, ends.map(recordOf));
    failpoint('webhooks.recording');
    const mine = ends.filter((_, i) => written.has(i));
    if (mine.length < ends.length) {
      logger.warn(
        { attempts: ends.length - mine.length },
        'attempts ended after another process had claimed their deliveries',
      );
    }
    await recordMailNotifications(trx, await updateQueues(trx, queues, mine, now, logger), mailer, now);
    return mine;
  });
  attempted?.(recorded.map(({ update }) => update));
  failpoint('webhooks.recorded');
  tracer.record(() => recorded.flatMap(attemptSpans));
}

/** The URL of an endpoint may have a secret in it, and is left out. */
function attemptSpans({ attempt: { delivery, startedAt, ms, result }, update }: Ended): Span[] {
  const of = tracedResource(delivery);
  if (of === undefined) return [];
  const failure = result.kind === 'answered' ? String(result.status) : result.kind;
  return [
    {
      of,
      name: 'POST webhook',
      kind: 'client',
      start: startedAt,
      end: new Date(startedAt.getTime() + ms),
      parent: sendStep(delivery.id),
      attributes: {
        'http.request.method': 'POST',
        ...(result.kind === 'answered' ? { 'http.response.status_code': result.status } : {}),
        'http.request.resend_count': delivery.attempts - 1,
        'quittance.event.id': delivery.id,
        'quittance.event.kind': delivery.kind,
        'quittance.endpoint.id': delivery.endpoint.endpointId,
        'quittance.delivery.state': update.state,
      },
      error: update.state === 'delivered' ? undefined : failure,
    },
  ];
}

/** Whose trace a delivery belongs to, by the resource that its event shows. */
function tracedResource({ kind, data }: Pick<ClaimedDelivery, 'kind' | 'data'>): Traced | undefined {
  const [is] = kind.split('.');
  if (is !== 'invoice' && is !== 'payout') return undefined;
  const { id } = JSON.parse(data) as { id: string | number };
  return { is, id: String(id) };
}

/** Whether an attempt went to the endpoint as it is now: not when it has a new URL or was enabled again since. */
const isOf = ({ generation }: EndpointQueue, { delivery }: Attempt): boolean =>
  delivery.endpoint.generation === generation;

/** @param queue undefined when the endpoint was disabled or deleted */
function decide(attempt: Attempt, queue: EndpointQueue | undefined, now: Date): DeliveryUpdate {
  const { delivery, result } = attempt;
  const endpoint = queue === undefined ? 'gone' : isOf(queue, attempt) ? 'same' : 'renewed';
  const attempts = delivery.attempts - delivery.cycleStart;
  const name = `${delivery.endpointKey}/${delivery.sequence}`;
  return deliveryAfter({ name, attempts, endpoint }, result, now);
}

function recordOf({ attempt: { delivery, startedAt, ms, result }, update }: Ended): AttemptRow {
  return {
    endpointKey: delivery.endpointKey,
    sequence: delivery.sequence,
    claim: delivery.claim,
    state: update.state,
    dueAt: update.state === 'waiting' ? update.dueAt : null,
    startsNewCycle: update.state === 'waiting' && update.startsNewCycle === true,
    counted: result.kind !== 'stopped',
    startedAt,
    ms,
    status: result.kind === 'answered' ? result.status : null,
    failure: result.kind === 'failed' ? result.failure : null,
    answer: result.kind === 'answered' ? result.excerpt : null,
  };
}

/**
 * Updates the health of the endpoints, wakes their queues, and disables endpoints that failed for too long.
 * @returns what their owners are told of that
 */
async function updateQueues(
  trx: Trx,
  queues: readonly EndpointQueue[],
  ends: readonly Ended[],
  now: Date,
  logger: Ports['logger'],
): Promise<MailNotification[]> {
  const byKey = Map.groupBy(ends, ({ attempt }) => attempt.delivery.endpointKey);
  const changed: EndpointQueue[] = [];
  const disabled: { key: string; reason: string }[] = [];
  const notifications: MailNotification[] = [];
  for (const queue of queues) {
    const own = (byKey.get(queue.endpointKey) ?? []).filter(({ attempt }) => isOf(queue, attempt));
    const outcomes = own.map(({ attempt }) => outcomeOf(attempt.result));
    const failed = own.filter((_, i) => outcomes[i] === 'failed' || outcomes[i] === 'gone');
    const failedEvents = failed.map(({ attempt }) => attempt.delivery.createdAt);
    const pauses = own.flatMap(({ attempt }) => askedUntil(attempt.result, now) ?? []);
    const { health, disable } = healthAfter(queue, { outcomes, failedEvents, pauses }, now);
    const after = { ...queue, ...health };
    if (!isDeepStrictEqual(after, queue)) changed.push(after);
    const [first] = own;
    if (first === undefined) continue;
    const { delivery } = first.attempt;
    if (disable !== undefined) {
      logger.info({ endpoint: delivery.endpoint.endpointId, why: disable }, 'disabled an endpoint');
      disabled.push({ key: queue.endpointKey, reason: disable });
      notifications.push(endpointNotification(delivery, 'webhook_disabled', now, disable));
    } else if (hasBeenFailing(queue, health))
      notifications.push(endpointNotification(delivery, 'webhook_failing', now));
  }
  if (changed.length > 0) await updateQueueHealth(trx, changed);
  await wakeQueues(trx, [...byKey.keys()], now);
  if (disabled.length > 0) await disableEndpoints(trx, disabled, now);
  return notifications;
}

/** Mails have the host alone: the rest of a URL may have a secret in it. */
const endpointNotification = (
  { endpoint: { endpointId: id, accountId, url } }: ClaimedDelivery,
  type: 'webhook_failing' | 'webhook_disabled',
  now: Date,
  reason?: string,
): MailNotification => ({
  eventKey: `${type} ${id} ${now.toISOString()}`,
  accountId,
  kind: 'webhook_failing',
  happenedAt: now,
  facts: { type, id, description: new URL(url).host, ...(reason === undefined ? {} : { reason }) },
});
