import { expect, test } from '@jest/globals';
import { daysOf, monthOf } from './months.ts';

test('a month of the statements is one in UTC', () => {
  expect(monthOf(new Date('2026-12-01T00:30:00+02:00'))).toBe('2026-11');
  expect(daysOf('2026-11')).toEqual({ first: '2026-11-01', last: '2026-11-30' });
  expect(daysOf('2028-02')).toEqual({ first: '2028-02-01', last: '2028-02-29' });
  expect(daysOf('2026-12').last).toBe('2026-12-31');
});
