import { type Bus, connectBus } from '@quittance/shared/bus';
import { type Db, openDb } from '@quittance/shared/db';
import type { EventKind, PayloadOf, Service } from '@quittance/shared/events';
import { newGatewayKeys, readSigningKey } from '@quittance/shared/gateway-keys';
import { IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import { anEventOf } from '@quittance/testkit/builders';
import type { Quittance } from '@quittance/testkit/quittance';

/** Somebody who has replaced a service: its environment is theirs, and nothing else. */
export type Hostile = {
  env: Readonly<Record<string, string>>;
  db: Db;
  /** Throws for the gateway, which has no user in NATS. */
  bus(): Bus;
  /** Whether NATS has taken the event. */
  publish<K extends EventKind>(kind: K, payload: PayloadOf<K>): Promise<boolean>;
  close(): Promise<void>;
};

const logger = createLogger('drills', 'silent');

export async function hostile({ stack }: Quittance, service: Service): Promise<Hostile> {
  const env = stack.settingsOf(service);
  const { DATABASE_URL: url = '', NATS_URL: natsUrl } = env;
  const db = openDb({ url, schema: service, pool: 1, logger });
  const connected = natsUrl === undefined ? undefined : await connectBus({ url: natsUrl, service, logger });
  const bus = () => {
    invariant(connected !== undefined, `${service} has a user in NATS`);
    return connected;
  };
  return {
    env,
    db,
    bus,
    async publish(kind, payload) {
      const event = anEventOf(kind, payload);
      const [isStored] = await bus().publish([{ kind, dedupe: event.id, body: JSON.stringify(event) }]);
      return isStored === true;
    },
    async close() {
      await connected?.close();
      await db.close();
    },
  };
}

/** What only other services' roles may do. */
export const writes = [
  'update ledger.balances set available = available + 1',
  'select * from gateway.tokens',
  'update payouts.payouts set amount = 1',
];

type Forged = {
  account: string;
  method?: string;
  path?: string;
  body: object;
  privateKey?: string;
  receiver?: Service;
};
export type Answered = { status: number; body: { message?: string; data?: { id: number } } };

/** A request to the port of payouts as if the gateway had passed it on. Without a key it is signed with one of the thief's own. */
export async function forge(
  { stack }: Quittance,
  {
    account,
    method = 'POST',
    path = '/api/payouts',
    body,
    privateKey = newGatewayKeys().privateKey,
    receiver = 'payouts',
  }: Forged,
): Promise<Answered> {
  const key = readSigningKey(privateKey);
  invariant(key !== undefined, 'the key has its form');
  const text = JSON.stringify(body);
  const asserted = { receiver, method, path, body: Buffer.from(text) };
  const answer = await fetch(`http://127.0.0.1:${stack.ports.payouts}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      [IDENTITY_HEADER]: signIdentity(key, { account: account as AccountId }, asserted, new Date()),
    },
    body: text,
  });
  return { status: answer.status, body: (await answer.json()) as Answered['body'] };
}
