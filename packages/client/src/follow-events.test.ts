import { describe, expect, it } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import {
  AuthenticationError,
  ConnectionError,
  EventGapError,
  RateLimitError,
  UnavailableError,
} from './errors.ts';
import { type EventLog, followEvents } from './follow-events.ts';
import type { Frame } from './server-sent-events.ts';

type Event = { sequence: number; event: string };

const event = (sequence: number): Event => ({
  sequence,
  event: sequence % 3 === 0 ? 'invoice.paid' : 'invoice.created',
});
const upTo = (last: number, from = 1): number[] =>
  Array.from({ length: Math.max(0, last - from + 1) }, (_, i) => from + i);
const frame = (one: Event): Frame => ({
  id: String(one.sequence),
  event: one.event,
  data: JSON.stringify(one),
});
const idFrame = (id: number): Frame => ({ id: String(id), event: 'message', data: undefined });

/** What happens to one stream, or to one page. */
type Fault =
  | { kind: 'none' }
  | { kind: 'refused'; retryAfterSeconds?: number }
  | { kind: 'breaks off'; after: number }
  | { kind: 'ends'; after: number }
  | { kind: 'doubles'; at: number }
  | { kind: 'leaves out'; at: number }
  | { kind: 'goes back'; to: number }
  | { kind: 'passes over'; ids: number };

class Enough extends Error {}

/**
 * A log that grows while it is read, and whose streams and pages fail by a list of faults. Without a fault it behaves as the
 * service does: a page has at most `perPage` events, a stream all after its place.
 */
function logWith({
  last = 0,
  grows = [],
  faults = [],
  first = 1,
  perPage = 3,
  isFiltered = false,
}: {
  last?: number;
  grows?: readonly number[];
  faults?: readonly Fault[];
  first?: number;
  perPage?: number;
  isFiltered?: boolean;
}) {
  const growth = [...grows];
  const faultsLeft = [...faults];
  const pauses: number[] = [];
  let isQuiesced = false;
  const grow = () => {
    last += growth.shift() ?? 0;
  };
  const shown = (from: number, to: number) =>
    upTo(to, from)
      .map(event)
      .filter((one) => !isFiltered || one.event === 'invoice.paid');
  const fault = (): Fault => faultsLeft.shift() ?? { kind: 'none' };
  const log: EventLog<Event> = {
    async last() {
      return last;
    },
    async page(after) {
      grow();
      const now = fault();
      if (now.kind === 'refused')
        throw new UnavailableError('No.', { retryAfterSeconds: now.retryAfterSeconds });
      const from = now.kind === 'goes back' ? Math.min(after, now.to) : after;
      const kept = shown(Math.max(from + 1, first), last);
      const data = kept.slice(0, perPage);
      const has_more = kept.length > perPage;
      const next_after = has_more ? (data.at(-1)?.sequence ?? after) : Math.max(after, last);
      return { data, meta: { has_more, next_after, first_sequence: first, last_sequence: last } };
    },
    async *stream(after) {
      const now = fault();
      if (now.kind === 'refused')
        throw new RateLimitError('No.', { retryAfterSeconds: now.retryAfterSeconds });
      yield idFrame(after);
      if (now.kind === 'passes over') yield idFrame(after + now.ids);
      let sent = now.kind === 'goes back' ? Math.min(after, now.to) : after;
      let count = 0;
      for (let quiet = 0; quiet < 3; quiet++) {
        grow();
        for (const one of shown(sent + 1, last)) {
          if (now.kind === 'breaks off' && count >= now.after) throw new ConnectionError('It broke off.');
          if (now.kind === 'ends' && count >= now.after) return;
          const at = count++;
          if (now.kind === 'leaves out' && at === now.at) continue;
          yield frame(one);
          if (now.kind === 'doubles' && at === now.at) yield frame(one);
          quiet = 0;
        }
        sent = last;
        if (isFiltered) yield idFrame(last);
      }
    },
    async pause(ms) {
      pauses.push(ms);
      // One whole round without a fault reads what is left.
      if (isQuiesced) throw new Enough();
      isQuiesced = faultsLeft.length === 0 && growth.length === 0;
    },
    random: () => 0.5,
  };
  return { log, pauses, isFiltered, last: () => last, shown };
}

async function read(fixture: ReturnType<typeof logWith>, after: number | undefined): Promise<number[]> {
  const seen: number[] = [];
  try {
    for await (const one of followEvents(fixture.log, { after, isFiltered: fixture.isFiltered }))
      seen.push(one.sequence);
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return seen;
}

const small = fc.nat({ max: 8 });
/** A server that leaves events out of its stream is found out where no events are expected to be left out. */
const faultsOf = (isFiltered: boolean) =>
  fc.oneof(
    fc.constant<Fault>({ kind: 'none' }),
    fc.constant<Fault>({ kind: 'refused' }),
    small.map((after): Fault => ({ kind: 'breaks off', after })),
    small.map((after): Fault => ({ kind: 'ends', after })),
    small.map((at): Fault => ({ kind: 'doubles', at })),
    small.map((to): Fault => ({ kind: 'goes back', to })),
    ...(isFiltered
      ? []
      : [
          small.map((at): Fault => ({ kind: 'leaves out', at })),
          small.map((ids): Fault => ({ kind: 'passes over', ids })),
        ]),
  );

describe('following events', () => {
  it.each([false, true])(
    'gives each event once and in order, whatever becomes of streams and pages (filtered: %s)',
    async (isFiltered) => {
      await assertProperty(
        fc.asyncProperty(
          small,
          small,
          fc.array(small, { maxLength: 20 }),
          fc.array(faultsOf(isFiltered), { maxLength: 30 }),
          async (last, start, grows, faults) => {
            const after = Math.min(start, last);
            const fixture = logWith({ last, grows, faults, isFiltered });
            const seen = await read(fixture, after);
            expect(seen).toEqual(fixture.shown(after + 1, fixture.last()).map(({ sequence }) => sequence));
          },
        ),
        { least: 200, most: 2_000, withinMs: 8_000 },
      );
    },
  );

  it('begins with what comes from now on when no place is given', async () => {
    const fixture = logWith({
      last: 5,
      grows: [0, 2, 1],
      faults: [{ kind: 'refused' }, { kind: 'refused' }],
    });
    expect(await read(fixture, undefined)).toEqual([6, 7, 8]);
  });

  it('says which events are no longer kept, and what to do', async () => {
    const fixture = logWith({ last: 120, first: 100 });
    const error = await read(fixture, 5).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(EventGapError);
    expect(error).toMatchObject({ after: 5, first_sequence: 100 });
    expect(String(error)).toContain('The events 6 to 99 are no longer kept. Read the state');
    expect(String(error)).toContain('after: 99');
    expect(await read(fixture, 99)).toEqual(upTo(120, 100));
  });

  it('says so too when the stream tells it', async () => {
    const { log } = logWith({ last: 5 });
    const gap = { id: '99', event: 'gap', data: '{"after":5,"first_sequence":100}' };
    const stream = async function* () {
      yield gap;
    };
    const reading = followEvents({ ...log, stream }, { after: 5, isFiltered: false });
    await expect(reading.next()).rejects.toMatchObject({ after: 5, first_sequence: 100 });
  });

  it('never passes over an event that a page leaves out', async () => {
    const { log } = logWith({ last: 6 });
    const page: EventLog<Event>['page'] = async (after) => {
      const { data, meta } = await log.page(after);
      return { data: data.filter(({ sequence }) => sequence !== 2), meta };
    };
    const reading = followEvents({ ...log, page }, { after: 0, isFiltered: false });
    expect((await reading.next()).value).toEqual(event(1));
    await expect(reading.next()).rejects.toMatchObject({ after: 1, first_sequence: 3 });
  });

  it('ends with an error that a repeated request does not mend', async () => {
    const { log } = logWith({ last: 2 });
    const stream = () => {
      throw new AuthenticationError('Unauthenticated.', { status: 401 });
    };
    const reading = followEvents({ ...log, stream }, { after: 1, isFiltered: false });
    expect((await reading.next()).value).toEqual(event(2));
    await expect(reading.next()).rejects.toBeInstanceOf(AuthenticationError);
  });

  it('waits longer with each failure, as long as the API asks for, and briefly once events have come', async () => {
    const refused: Fault = { kind: 'refused' };
    const fixture = logWith({
      faults: [
        ...Array(7).fill(refused),
        { kind: 'refused', retryAfterSeconds: 7 },
        { kind: 'none' },
        { kind: 'ends', after: 1 },
      ],
      grows: [...Array(10).fill(0), 2],
    });
    await read(fixture, 0);
    expect(fixture.pauses.slice(0, 8)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 22_000]);
    expect(fixture.pauses[8]).toBeLessThanOrEqual(1_000);
  });
});
