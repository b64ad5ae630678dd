import { randomBytes } from 'node:crypto';
import { type Db, openDb } from '@quittance/shared/db';
import type { EventKind, EventOf } from '@quittance/shared/events';
import { type AccountId, newAccountId, newEventId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { defaultKinds } from '../src/domain/kinds.ts';
import { type Attempt, attemptDelivery } from '../src/operations/attempt-delivery.ts';
import { claimDeliveries } from '../src/operations/claim-deliveries.ts';
import { recordAttempts } from '../src/operations/record-attempts.ts';
import { recordEvents, type ToldEvent } from '../src/operations/record-events.ts';
import { registerEndpoint } from '../src/operations/register-endpoint.ts';
import type { Ports } from '../src/ports.ts';
import { createPoster } from '../src/poster.ts';
import { createSeal } from '../src/seal.ts';

export const SECRETS_KEY = 'a key of tests, longer than 32 characters';
export const IDENTITY_SECRET = 'an identity secret of tests, 32 long';

/** A clock that stands still until it is told to go on. */
export type SteppedClock = { now(): Date; advance(ms: number): void };

function steppedClock(start = new Date()): SteppedClock {
  let time = start.getTime();
  return {
    now: () => new Date(time),
    advance(ms) {
      time += ms;
    },
  };
}

export type StagePorts = Omit<Ports, 'bus'>;

export type Stage = {
  database: TestDatabase;
  /** The service's own connection: its role, its schema. */
  db: Db;
  clock: SteppedClock;
  ports: StagePorts;
  close(): Promise<void>;
};

/** The operations of webhooks on a database of their own, with a clock that the test steps, and no bus. */
export async function openStage(given: Partial<StagePorts> = {}): Promise<Stage> {
  const database = await testDatabase();
  const logger = createLogger('webhooks', 'silent');
  const db = openDb({ url: database.urlOf('webhooks'), schema: 'webhooks', pool: 8, logger });
  const clock = steppedClock();
  const ports: StagePorts = {
    db,
    clock,
    random: randomBytes,
    logger,
    seal: createSeal(SECRETS_KEY, randomBytes),
    poster: createPoster({ publicOnly: false, timeoutMs: 2_000 }),
    publicUrl: 'http://quittance.test',
    allowInsecureEndpoints: true,
    ...given,
  };
  return {
    database,
    db,
    clock,
    ports,
    async close() {
      await ports.poster.close();
      await db.close();
      await database.drop();
    },
  };
}

export const anAccount = (): AccountId => newAccountId(new Date());

/** An event as the bus brings it. */
export function anEvent({
  account = anAccount(),
  kind = 'invoice.created',
  resource = 'inv_1',
  version = 1,
  data = { id: resource, status: 'pending' },
}: {
  account?: AccountId;
  kind?: ToldEvent['kind'];
  resource?: string;
  version?: number;
  data?: Record<string, unknown>;
} = {}): ToldEvent {
  const now = new Date();
  return {
    id: newEventId(now),
    kind,
    created_at: now.toISOString(),
    request_id: null,
    payload: { account_id: account, resource_id: resource, version, data },
  } as EventOf<EventKind> as ToldEvent;
}

/** Takes events in, as the consumer does, in one transaction. */
export const takeIn = (ports: StagePorts, ...events: ToldEvent[]): Promise<void> =>
  ports.db.transaction((trx) => recordEvents(ports, trx, events));

/** An endpoint of this account, and its secret. */
export async function anEndpoint(
  ports: StagePorts,
  account: AccountId,
  url: string,
  kinds: string[] = [...defaultKinds],
): Promise<{ key: string; id: string; secret: string }> {
  const made = await registerEndpoint(ports, { account, url, kinds, description: null });
  if (!made.ok) throw new Error(made.refusal);
  return { key: made.value.endpoint.key, id: made.value.endpoint.id, secret: made.value.secret };
}

/** One round of the workers: claims all that is due, sends it, records what came of it. */
export async function deliver(ports: StagePorts): Promise<Attempt[]> {
  const claimed = await claimDeliveries(ports, 1_024);
  const attempts = await Promise.all(claimed.map((delivery) => attemptDelivery(ports, delivery)));
  if (attempts.length > 0) await recordAttempts(ports, attempts);
  return attempts;
}

/** Rounds until nothing is due. */
export async function deliverAll(ports: StagePorts): Promise<Attempt[]> {
  const all: Attempt[] = [];
  for (let round = await deliver(ports); round.length > 0; round = await deliver(ports)) all.push(...round);
  return all;
}

export type DeliveryRow = { sequence: string; state: string; attempts: number; due_at: Date };

/** An endpoint's deliveries as they are stored. */
export const deliveriesOf = (db: Db, endpointKey: string): Promise<DeliveryRow[]> =>
  db.rows<DeliveryRow>(
    'select sequence, state, attempts, due_at from deliveries where endpoint_key = $1 order by sequence',
    [endpointKey],
  );
