import { expect, test } from '@jest/globals';
import { withMoments } from './day-range.ts';

test('a range of days begins with the first moment of its first day and ends with the last of its last', () => {
  const query = { created_from: '2026-11-01', created_to: '2026-11-30', asset: 'ETH', page: 2 };
  expect(withMoments(query, 'UTC')).toEqual({
    ...query,
    created_from: '2026-11-01T00:00:00.000Z',
    created_to: '2026-11-30T23:59:59.999Z',
  });
});

test('days of the reader are whole days in the zone of the reader', () => {
  const { paid_from: from, paid_to: to } = withMoments({ paid_from: '2026-06-01', paid_to: '2026-06-01' });
  expect(new Date(String(from)).getHours()).toBe(0);
  expect(Date.parse(String(to)) - Date.parse(String(from))).toBe(24 * 60 * 60_000 - 1);
});

test('what is no day is left to the API to refuse', () => {
  const query = {
    created_from: '2026-13-45',
    created_to: 'soon',
    external_id: '2026-11-01',
    asset: undefined,
  };
  expect(withMoments(query)).toEqual(query);
});
