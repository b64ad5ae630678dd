import { afterAll, afterEach } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { type Received, type Receiver, startReceiver } from '@quittance/testkit/receiver';
import type { Ports } from '../src/ports.ts';
import { type Caller, openCaller } from './caller.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  deliverAll,
  deliveriesOf,
  type Fixture,
  openFixture,
  receiveMany,
} from './fixture.ts';

type Shop = { account: AccountId } & Awaited<ReturnType<typeof anEndpoint>>;

export type ReceiverFixture = {
  fixture: Fixture;
  receiver: Receiver;
  /** The requests to a path of the receiver. Each test has its own path. */
  arrivedAt(path: string): Received[];
  answerWith(status: number, body?: string): void;
  /** An account with an endpoint at a path of the receiver. */
  aShop(path: string, eventTypes?: string[]): Promise<Shop>;
  /** The states of an endpoint's deliveries, in the order of their sequence numbers. */
  statesOf(endpointKey: string): Promise<string[]>;
  /** Goes through the whole retry schedule of an endpoint's deliveries. */
  exhaust(endpointKey: string): Promise<void>;
  /** A healthy endpoint with this many due retries. */
  withBacklog(path: string, backlog: number): Promise<{ account: AccountId; key: string }>;
  /** Serves the routes until the end of the suite. */
  caller(options?: Parameters<typeof openCaller>[1]): Promise<Caller>;
};

/** For one suite: a fixture and a merchant's server, which answers 200 at the start of each test. Closed after the last test. */
export async function openReceiverFixture(given: Partial<Ports> = {}): Promise<ReceiverFixture> {
  const [fixture, receiver] = await Promise.all([openFixture(given), startReceiver()]);
  const callers: Caller[] = [];
  const answerWith = (status: number, body = '') =>
    receiver.answer((response) => response.writeHead(status).end(body));
  async function aShop(path: string, eventTypes?: string[]): Promise<Shop> {
    const account = anAccount();
    return { account, ...(await anEndpoint(fixture.ports, account, `${receiver.url}${path}`, eventTypes)) };
  }
  afterEach(() => answerWith(200));
  afterAll(async () => {
    await Promise.all([...callers, receiver].map((one) => one.close()));
    await fixture.close();
  });
  return {
    fixture,
    receiver,
    arrivedAt: (path) => receiver.received.filter((one) => one.path === path),
    answerWith,
    aShop,
    statesOf: async (key) => (await deliveriesOf(fixture.db, key)).map(({ state }) => state),
    async exhaust(key) {
      for (;;) {
        await deliverAll(fixture.ports);
        const waiting = (await deliveriesOf(fixture.db, key)).filter(({ state }) => state === 'waiting');
        if (waiting.length === 0) return;
        const due = Math.min(...waiting.map(({ due_at }) => due_at.getTime()));
        fixture.clock.advance(due - fixture.clock.now().getTime());
      }
    },
    async withBacklog(path, backlog) {
      const { account, key } = await aShop(path);
      answerWith(500);
      await receiveMany(fixture.ports, account, backlog, 'failed');
      await deliverAll(fixture.ports);
      answerWith(200);
      await receiveMany(fixture.ports, account, 1, 'good');
      await deliverAll(fixture.ports);
      fixture.clock.advance(6_000);
      return { account, key };
    },
    async caller(options) {
      const caller = await openCaller(fixture, options);
      callers.push(caller);
      return caller;
    },
  };
}

export const someEvents = (account: AccountId, count: number, kind: 'invoice.created' | 'invoice.paid') =>
  Array.from({ length: count }, (_, i) => anEvent({ account, kind, resource: `${kind}_${i}` }));
