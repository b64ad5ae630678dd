import type { ServerResponse } from 'node:http';
import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type LoggedEvent, later } from '../domain/envelope.ts';
import type { WebhookEventType } from '../domain/event-types.ts';
import { notificationOf } from '../domain/mail-notification.ts';
import type { StreamRefusal } from '../event-streams.ts';
import type { Ports } from '../ports.ts';
import { insertDeliveries } from '../store/deliveries.ts';
import {
  type EventPage,
  type EventsQuery,
  eventsAfter,
  findEvent,
  insertEvents,
  lastSequenceOf,
} from '../store/events.ts';
import { recordMailNotifications } from './mail-notifications.ts';

/** An event of another service that merchants can receive. */
export type MerchantEvent = EventOf<Exclude<WebhookEventType, 'webhook.test'>>;

/**
 * Appends events to the logs of their accounts, numbered without a gap, and queues a delivery for each subscribed endpoint and
 * what recipients are told by e-mail.
 */
export async function recordEvents(
  trx: Trx,
  arrived: readonly MerchantEvent[],
  { clock, mailer }: Pick<Ports, 'clock' | 'mailer'>,
): Promise<void> {
  const events = arrived.map(({ id, kind, created_at, payload }) => ({
    id,
    accountId: payload.account_id as AccountId,
    kind,
    createdAt: new Date(created_at),
    resourceId: payload.resource_id,
    version: payload.version,
    data: JSON.stringify(payload.data),
  }));
  const numbered = await insertEvents(trx, inOrder(events));
  failpoint('webhooks.events_logged');
  await insertDeliveries(trx, numbered, clock.now());
  if (mailer === undefined) return;
  const notifications = events.flatMap(
    (event, i) => notificationOf({ ...event, data: arrived[i]?.payload.data ?? {} }) ?? [],
  );
  await recordMailNotifications(trx, notifications, mailer, clock.now());
}

/**
 * Events in the order of arrival, except that those of one invoice or payout are ordered by version: numbered together, a
 * later version never gets the smaller number.
 */
export function inOrder<E extends { resourceId: string; version: number }>(arrived: readonly E[]): E[] {
  const byResource = new Map<string, E[]>();
  for (const [resource, events] of Map.groupBy(arrived, (event) => event.resourceId)) {
    byResource.set(
      resource,
      events.toSorted((a, b) => a.version - b.version),
    );
  }
  // Each place of a resource takes the next event of that resource.
  return arrived.map((event) => byResource.get(event.resourceId)?.shift() ?? event);
}

/** One event of the account. */
export async function readEvent(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
): Promise<Result<LoggedEvent, AccessRefusal>> {
  const event = await findEvent(db, id);
  if (event === undefined) return refuse('not_found');
  return event.accountId === account ? ok(event) : refuse('forbidden');
}

/** `nextAfter` is the start of the next page: with the same filters, no unread event is at or before it, now or later. */
export type EventsAfter = EventPage & { hasMore: boolean; nextAfter: string; lastSequence: string };

/** Why events cannot be read from a place on: the log ends before it. */
type AfterTheEnd = { last: string };

/** The events of an account after a sequence number, in order and without a gap. */
export async function listEvents(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  wanted: EventsQuery,
): Promise<Result<EventsAfter, AfterTheEnd>> {
  // Read first: the next statement sees all events up to this number.
  const lastSequence = await lastSequenceOf(db, account);
  if (BigInt(wanted.after) > BigInt(lastSequence)) return refuse({ last: lastSequence });
  const page = await eventsAfter(db, account, { ...wanted, limit: wanted.limit + 1 });
  const events = page.events.slice(0, wanted.limit);
  const hasMore = page.events.length > wanted.limit;
  const seen = [
    String(wanted.after),
    ...events.map((event) => event.sequence),
    // Events after `to` are not skipped: a request with a later `to` reads them.
    ...(hasMore || wanted.to !== null ? [] : [lastSequence]),
  ];
  return ok({ ...page, events, hasMore, nextAfter: seen.reduce(later), lastSequence });
}

export type StreamQuery = {
  /** The last event that the client has; undefined: it wants new events only. */
  after: number | undefined;
  eventTypes: readonly string[] | null;
};

/** Opens a stream of an account's events. Refuses a start after the last event. */
export async function openEventStream(
  { db, streams }: Pick<Ports, 'db' | 'streams'>,
  res: ServerResponse,
  account: AccountId,
  { after, eventTypes }: StreamQuery,
): Promise<Result<null, StreamRefusal | AfterTheEnd>> {
  const last = await lastSequenceOf(db, account);
  if (after !== undefined && BigInt(after) > BigInt(last)) return refuse({ last });
  const refused = streams.open(res, { account, eventTypes, after: String(after ?? last) });
  return refused === undefined ? ok(null) : refuse(refused);
}
