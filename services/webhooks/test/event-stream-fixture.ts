import { afterAll, afterEach } from '@jest/globals';
import type { Listening } from '@quittance/shared/http-server';
import { IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { readStream, type StreamReading } from '@quittance/testkit/stream-reader';
import { createEventStreams, type EventStreams, streamLimits } from '../src/event-streams.ts';
import { anEvent, type Fixture, IDENTITY_SECRET, listenTo, openFixture, receiveEvents } from './fixture.ts';

export type StreamServer = Listening & { streams: EventStreams };

type ReadOptions = { path?: string; method?: string; lastEventId?: string };

export type StreamFixture = {
  fixture: Fixture;
  /** Serves streams with these limits until the end of the test. */
  serve(
    limits?: Partial<typeof streamLimits>,
    ports?: Parameters<typeof createEventStreams>[0],
  ): Promise<StreamServer>;
  /** Opens a stream of an account, which is left at the end of the test. */
  read(server: Listening, account: AccountId, query?: string, options?: ReadOptions): Promise<StreamReading>;
  /** Records this many events of an account. */
  many(account: AccountId, count: number): Promise<void>;
};

/** For one suite: webhooks whose streams the tests serve and read. Closed after the last test. */
export async function openStreamFixture(): Promise<StreamFixture> {
  const fixture = await openFixture();
  const servers: StreamServer[] = [];
  const readings: StreamReading[] = [];
  afterEach(async () => {
    for (const { leave } of readings.splice(0)) leave();
    for (const { close, streams } of servers.splice(0)) {
      await streams.close();
      await close(0);
    }
  });
  afterAll(() => fixture.close());
  return {
    fixture,
    async serve(limits = {}, ports = fixture.ports) {
      const streams = createEventStreams(ports, { ...streamLimits, lookEveryMs: 50, ...limits });
      const listening = await listenTo({ ...fixture.ports, ...ports, streams });
      const server = { ...listening, streams };
      servers.push(server);
      return server;
    },
    async read(
      { port },
      account,
      query = '',
      { path = '/api/events/stream', method = 'GET', lastEventId } = {},
    ) {
      const reading = await readStream({
        ...{ port, path: `${path}${query}`, method },
        headers: {
          [IDENTITY_HEADER]: signIdentity(IDENTITY_SECRET, { account }, fixture.clock.now()),
          ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
        },
      });
      readings.push(reading);
      return reading;
    },
    many: (account, count) =>
      receiveEvents(fixture.ports, ...Array.from({ length: count }, () => anEvent({ account }))),
  };
}

/** The sequence numbers of the received events. */
export const numbers = ({ text }: StreamReading): number[] =>
  // eslint-disable-next-line no-restricted-syntax -- sequence numbers
  [...text().matchAll(/^id: (\d+)\nevent: /gm)].map(([, id]) => Number(id));

export const upTo = (n: number, from = 1) => Array.from({ length: n - from + 1 }, (_, i) => from + i);
