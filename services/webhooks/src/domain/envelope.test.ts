import { expect, test } from '@jest/globals';
import type { EventId } from '@quittance/shared/ids';
import { beatFrame, eventFrame, gapFrame, later, openingFrame } from './envelope.ts';

test.each([
  ['0', '0', '0'],
  ['9', '10', '10'],
  ['10', '9', '10'],
  ['9007199254740993', '9007199254740992', '9007199254740993'],
])('the later of %s and %s is %s', (a, b, expected) => {
  expect(later(a, b)).toBe(expected);
});

test('each line of an event has the prefix of its frame', () => {
  const event = {
    id: 'evt_1' as EventId,
    kind: 'invoice.paid',
    createdAt: new Date(0),
    sequence: '9',
    version: '2',
  };
  const begin =
    '{"id":"evt_1","event":"invoice.paid","created_at":"1970-01-01T00:00:00.000Z","sequence":9,"version":2,"data":';
  expect(eventFrame({ ...event, data: '{\n"a":\r\n1\r}' })).toBe(
    `id: 9\nevent: invoice.paid\ndata: ${begin}{\ndata: "a":\ndata: 1\ndata: }}\n\n`,
  );
});

test.each([
  ['opening frame', openingFrame('7'), 'retry: 3000\nid: 7\n\n'],
  [
    'gap before event 12',
    gapFrame('7', '12'),
    'id: 11\nevent: gap\ndata: {"after":7,"first_sequence":12}\n\n',
  ],
  ['heartbeat', beatFrame(undefined), ':\n\n'],
  ['heartbeat after events that did not match', beatFrame('15'), ':\nid: 15\n\n'],
])('a client can remember where it stands after the %s', (_, frame, expected) => {
  expect(frame).toBe(expected);
});
