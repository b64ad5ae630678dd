import { expect, test } from '@jest/globals';
import { pointsInSource } from './crash-points.ts';
import { pointsOf, scenes } from './crash-rows.ts';

const inSource = pointsInSource();
const inMatrix = Object.values(scenes).flatMap(({ rows }) => rows.flatMap(pointsOf));

test('there are as many crash points as are claimed', () => {
  expect(inSource.length).toBeGreaterThanOrEqual(60);
});

test('each has a name of its own', () => {
  expect(inSource.filter((point, i) => inSource.indexOf(point) !== i)).toEqual([]);
});

test('the matrix kills at each of them, and at nothing else', () => {
  expect(new Set(inMatrix)).toEqual(new Set(inSource));
});
