import { expect, test } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { inOrder } from './events.ts';

test('events of one resource are ordered by version, and the others keep their places', () => {
  const a = (version: number, name = '') => ({ resourceId: 'a', version, name });
  const b = (version: number) => ({ resourceId: 'b', version, name: '' });
  expect(inOrder([a(3), b(1), a(1), a(2)])).toEqual([a(1), b(1), a(2), a(3)]);
  expect(inOrder([a(2, 'confirmed'), a(2, 'overpaid'), a(1)])).toEqual([
    a(1),
    a(2, 'confirmed'),
    a(2, 'overpaid'),
  ]);
});

test('no event is lost, duplicated or moved to another resource’s place', async () => {
  const event = fc.record({
    resourceId: fc.constantFrom('a', 'b', 'c'),
    version: fc.integer({ min: 1, max: 5 }),
  });
  await assertProperty(
    fc.property(fc.array(event), (arrived) => {
      const sorted = inOrder(arrived);
      expect(new Set(sorted)).toEqual(new Set(arrived));
      expect(sorted.map((one) => one.resourceId)).toEqual(arrived.map((one) => one.resourceId));
      for (const [, own] of Map.groupBy(sorted, (one) => one.resourceId)) {
        const versions = own.map((one) => one.version);
        expect(versions).toEqual(versions.toSorted((x, y) => x - y));
      }
    }),
  );
});
