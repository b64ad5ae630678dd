import { expect, test } from '@jest/globals';
import { eventsBefore } from './event-pages.ts';

type Event = { sequence: number; kind: string };

/** A log whose events before `first` are no longer kept. */
function logOf(first: number, last: number, kindOf: (sequence: number) => string = () => 'invoice.paid') {
  const log = Array.from({ length: last - first + 1 }, (_, i) => ({
    sequence: first + i,
    kind: kindOf(first + i),
  }));
  return (kind?: string) => async (query: { after: number; limit: number }) => {
    const found = log.filter((event) => event.sequence > query.after && (!kind || event.kind === kind));
    const data: Event[] = found.slice(0, query.limit);
    const next_after = data.at(-1)?.sequence ?? last;
    const has_more = found.length > data.length;
    return { data, meta: { has_more, next_after, first_sequence: first, last_sequence: last } };
  };
}

async function all(load: ReturnType<ReturnType<typeof logOf>>): Promise<number[]> {
  const sequences: number[] = [];
  let before: number | undefined;
  do {
    const page = await eventsBefore(load, before);
    sequences.push(...page.rows.map(({ sequence }) => sequence));
    before = page.before;
  } while (before !== undefined);
  return sequences;
}

const downFrom = (last: number, first: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => last - i);

test('the log is read backwards, each event once', async () => {
  expect(await all(logOf(1, 250)())).toEqual(downFrom(250, 1));
  expect(await all(logOf(1, 100)())).toEqual(downFrom(100, 1));
  expect(await all(logOf(1, 1)())).toEqual([1]);
});

test('what is no longer kept is not asked for', async () => {
  expect(await all(logOf(901, 1_105)())).toEqual(downFrom(1_105, 901));
});

test('an empty log has one empty page', async () => {
  expect(await eventsBefore(logOf(1, 0)(), undefined)).toEqual({ rows: [], before: undefined });
});

test('a rare event is found far back, and every one of them', async () => {
  const load = logOf(1, 2_000, (sequence) => (sequence % 700 === 3 ? 'payout.failed' : 'invoice.paid'));
  expect(await all(load('payout.failed'))).toEqual([1_403, 703, 3]);
});
