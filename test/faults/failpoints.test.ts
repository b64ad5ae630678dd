import { expect, test } from '@jest/globals';
import { failpointSuites } from './failpoint-rows.ts';
import { nameOf } from './failpoint-suite.ts';
import { failpointsInSource } from './failpoints.ts';

const inSource = failpointsInSource();
const inMatrix = Object.values(failpointSuites).flatMap(({ kinds }) =>
  kinds.flatMap(({ points }) => points.map(nameOf)),
);

test('there are as many failpoints as are claimed', () => {
  expect(inSource.length).toBeGreaterThanOrEqual(60);
});

test('each has a name of its own', () => {
  expect(inSource.filter((point, i) => inSource.indexOf(point) !== i)).toEqual([]);
});

test('the matrix kills at each of them, and at nothing else', () => {
  expect(new Set(inMatrix)).toEqual(new Set(inSource));
});
