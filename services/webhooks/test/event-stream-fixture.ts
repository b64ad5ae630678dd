import { afterEach } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { identityOf } from '@quittance/testkit/api';
import { readStream, type StreamReading } from '@quittance/testkit/stream-reader';
import { createEventStreams, type EventStreams, streamLimits } from '../src/event-streams.ts';
import { openFixture } from './fixture.ts';

type StreamServer = { port: number; streams: EventStreams };
type ReadOptions = { method?: string; lastEventId?: string };

/** For one suite: webhooks whose streams the tests serve and read. */
export async function openStreamFixture() {
  const fixture = await openFixture();
  const servers: StreamServer[] = [];
  const readings: StreamReading[] = [];
  afterEach(async () => {
    for (const { leave } of readings.splice(0)) leave();
    for (const { streams } of servers.splice(0)) await streams.close();
  });
  return {
    ...fixture,
    /** Streams with these limits, until the end of the test. */
    async serveStreams(
      limits: Partial<typeof streamLimits> = {},
      own: Partial<Parameters<typeof createEventStreams>[0]> = {},
    ): Promise<StreamServer> {
      const given = { ...streamLimits, lookEveryMs: 50, ...limits };
      const streams = createEventStreams({ ...fixture.ports, ...own }, given);
      const { port } = await fixture.serve({}, { ...own, streams });
      servers.push({ port, streams });
      return { port, streams };
    },
    /** Opens a stream of an account, which is left at the end of the test. */
    async read(
      { port }: { port: number },
      account: AccountId,
      query = '',
      { method = 'GET', lastEventId }: ReadOptions = {},
    ): Promise<StreamReading> {
      const more = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
      const path = `/api/events/stream${query}`;
      const headers = { ...identityOf(account, { method, path, now: fixture.clock.now() }), ...more };
      const reading = await readStream({ port, path, method, headers });
      readings.push(reading);
      return reading;
    },
  };
}

/** The sequence numbers of the received events. */
export const numbers = ({ text }: StreamReading): number[] =>
  // eslint-disable-next-line no-restricted-syntax -- sequence numbers
  [...text().matchAll(/^id: (\d+)\nevent: /gm)].map(([, id]) => Number(id));

export const upTo = (n: number, from = 1) => Array.from({ length: n - from + 1 }, (_, i) => from + i);
