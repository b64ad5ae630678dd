import { createHash } from 'node:crypto';
import { type Db, isPassing, mayPassInParts } from './db.ts';
import { type EventKind, type EventOf, events, parseEvent, subjectOf } from './events.ts';
import { failpoint } from './failpoint.ts';
import { type BatchHandler, type Handlers, handleBatch } from './handlers.ts';
import { addDeadLetter, firstTimes } from './inbox.ts';
import { type Logger, reason } from './logger.ts';
import type { ThrottledLog } from './throttled-log.ts';

const TRIES = 8;
/** One event may end its connection, and be to blame; of two in a row neither is. */
const AWAY_AFTER = 2;
const RETRY_MS = [100, 500, 1_000, 2_000, 5_000] as const;

/** What a consumer gets, and must acknowledge, put back or end. */
export type Message = {
  readonly subject: string;
  readonly data: Uint8Array;
  /** `deliveryCount`: 1 the first time. */
  readonly info: { readonly deliveryCount: number };
  readonly headers?: { get(name: string): string; has(name: string): boolean } | undefined;
  json<T = unknown>(): T;
  ack(): void;
  /** To be handed out again, after a while. */
  nak(afterMs?: number): void;
  /** Never to be handed out again. */
  term(): void;
};

export type TakeInOptions<P = unknown> = {
  db: Db;
  handlers: Handlers<P> | BatchHandler<P>;
  /** What the handlers are given. */
  ports?: P;
  logger: Logger;
  /** Kept from batch to batch: an hour without the database is a line a minute, not one for each event and try. */
  throttled: ThrottledLog;
  /** Called after each commit: kick what the effects have given work. */
  committed?: () => void;
};

type Aside = Pick<TakeInOptions, 'db' | 'logger'>;

type Taken = { message: Message; event: EventOf<EventKind> };
type Failed = Taken & { error: unknown };

const WAITING = 'waiting';
function logWaiting({ throttled }: Pick<TakeInOptions, 'throttled'>, events: number, error: unknown): void {
  const fields = { events, reason: reason(error) };
  throttled.log('warn', WAITING, fields, 'events could not be taken in, they will be tried again');
}

/**
 * Takes in a batch: what is new and its effect in one transaction, acknowledged after the commit. What fails for a
 * reason that passes is handed out again later; an event that is refused, alone, as well, and parked when it never
 * succeeds. Never throws.
 */
export async function takeIn<P>(messages: readonly Message[], options: TakeInOptions<P>): Promise<void> {
  const batch: Taken[] = [];
  for (const message of messages) {
    const taken = await read(message, options);
    if (taken) batch.push(taken);
  }
  if (batch.length === 0) return;
  const failed = await failedOf(batch, options);
  const [waiting, refused] = [failed.filter(isWaiting), failed.filter((one) => !isWaiting(one))];
  for (const { message } of waiting) handBack(message);
  for (const one of refused) await retryOrMoveToDeadLetters(one, options);
  const [first] = waiting;
  if (first !== undefined) logWaiting(options, waiting.length, first.error);
  else if (failed.length < batch.length) options.throttled.ended(WAITING, {}, 'events are taken in again');
}

const isWaiting = ({ error }: Failed): boolean => isPassing(error);

/**
 * Writes a batch and answers what of it failed. One event that cannot be taken in must not hold up the others: it is
 * found by taking them one by one. Where the database is away that finds nothing, and would take each event's share of
 * time to learn the same: what the second in a row has met holds for those behind it.
 */
async function failedOf<P>(batch: readonly Taken[], options: TakeInOptions<P>): Promise<Failed[]> {
  try {
    await write(batch, options);
    return [];
  } catch (error) {
    if (batch.length === 1) return batch.map((taken) => ({ ...taken, error }));
    const fields = { events: batch.length, reason: reason(error) };
    if (isPassing(error)) logWaiting(options, batch.length, error);
    else options.logger.warn(fields, 'a batch failed, taking its events one by one');
  }
  const failed: Failed[] = [];
  let inARow = 0;
  for (const [i, taken] of batch.entries()) {
    const [single] = await failedOf([taken], options);
    if (single !== undefined) failed.push(single);
    inARow = single !== undefined && isOfNone(single) ? inARow + 1 : 0;
    if (single === undefined || inARow < AWAY_AFTER) continue;
    const { error } = single;
    return [...failed, ...batch.slice(i + 1).map((untried) => ({ ...untried, error }))];
  }
  return failed;
}

/** Nothing of the event's own: the database would have answered the same to any other. */
const isOfNone = ({ error }: Failed): boolean => isPassing(error) && !mayPassInParts(error);

async function write<P>(batch: readonly Taken[], options: TakeInOptions<P>): Promise<void> {
  const { db, handlers, ports, logger, committed } = options;
  const forgotten = await db.transaction(async (trx) => {
    const { fresh, forgotten } = await firstTimes(
      trx,
      batch.map(({ event }) => event.id),
    );
    // The same event twice in one batch is new only once.
    const events = batch.map(({ event }) => event).filter((event) => fresh.delete(event.id));
    const byKind = typeof handlers === 'function' ? { '*': handlers } : handlers;
    await handleBatch(trx, events, byKind, ports as P);
    failpoint('consumer.before_commit');
    return forgotten;
  });
  failpoint('consumer.after_commit');
  const taken = batch.filter(({ event }) => !forgotten.has(event.id));
  for (const { message } of taken) message.ack();
  failpoint('consumer.acknowledged');
  for (const { message, event } of batch) {
    if (forgotten.has(event.id)) await moveToDeadLetters(message, event.kind, mayHaveComeBefore(), options);
  }
  for (const { event } of taken) {
    logger.debug({ event: event.id, kind: event.kind, request_id: event.request_id }, 'took in an event');
  }
  committed?.();
}

const mayHaveComeBefore = () =>
  new Error(
    'it is older than what the inbox remembers, and its sender had said that it keeps it no more: it may have been taken in before. Look whether its effect is there; if it is not, `quittance dead-letters retry EVENT --not-processed` has it taken in',
  );

/** The bus lets each service write under its own name only: what it says elsewhere of itself counts for nothing. */
const mayComeAs = (kind: EventKind, subject: string): boolean =>
  events[kind].to.some((to) => subjectOf(kind, to) === subject);

async function read(message: Message, options: Aside): Promise<Taken | undefined> {
  const { subject } = message;
  try {
    const event = parseEvent(message.json());
    if (mayComeAs(event.kind, subject)) return { message, event };
    const forged = new Error(`${event.kind} may not come as ${subject}`);
    // Not under the id it claims: by that the true one's sender would take it for arrived.
    await moveToDeadLetters(message, subject, forged, options, namelessId(message));
  } catch (error) {
    await moveToDeadLetters(message, subject, error, options);
  }
  return undefined;
}

/** Its own id when it has one: by that its sender asks whether it arrived. */
function idOf(message: Message): string {
  try {
    const { id } = message.json<{ id?: unknown }>();
    if (typeof id === 'string' && /^\w{1,64}$/.test(id)) return id;
  } catch {
    // No JSON at all, or null: it has no id.
  }
  return namelessId(message);
}

const namelessId = ({ data }: Message): string =>
  `unreadable_${createHash('sha256').update(data).digest('hex')}`;

async function retryOrMoveToDeadLetters({ message, event, error }: Failed, options: Aside): Promise<void> {
  const tries = message.info.deliveryCount;
  // The count says little of the event: it also grows while a message waits its turn in here.
  if (tries >= TRIES) return moveToDeadLetters(message, event.kind, error, options);
  options.logger.warn(
    { event: event.id, kind: event.kind, tries, reason: reason(error) },
    'an event could not be taken in, it will be tried again',
  );
  handBack(message);
}

/** The oftener it was handed out, the later it is again. */
function handBack(message: Message): void {
  const tries = message.info.deliveryCount;
  message.nak(RETRY_MS[Math.min(tries, RETRY_MS.length) - 1] ?? RETRY_MS[0]);
}

/** Makes a message a dead letter, for an operator. Never throws: one message must not stop those behind it. */
async function moveToDeadLetters(
  message: Message,
  kind: string,
  error: unknown,
  { db, logger }: Aside,
  id = idOf(message),
): Promise<void> {
  const said = { event: id, kind, tries: message.info.deliveryCount, reason: reason(error) };
  try {
    await addDeadLetter(db, id, kind, message.data, reason(error));
    logger.error(said, 'an event was parked: an operator must look at it');
    message.term();
  } catch (failure) {
    logger.warn(
      { ...said, parking: reason(failure) },
      'an event could not be parked, it will be tried again',
    );
    message.nak(RETRY_MS[RETRY_MS.length - 1] ?? RETRY_MS[0]);
  }
}
