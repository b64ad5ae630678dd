import { expect, test } from '@jest/globals';
import type { ClaimedDelivery } from './operations/claim-deliveries.ts';
import { trackUnderWay } from './under-way.ts';

const aDelivery = (endpointKey: string, prompt: boolean) => ({ endpointKey, prompt }) as ClaimedDelivery;

test('what is doubtful fills its own room only', () => {
  const underWay = trackUnderWay(() => 0);
  expect(underWay.room().room).toEqual({ prompt: 1_024, doubtful: 512 });
  for (let i = 0; i < 600; i++) underWay.add(aDelivery(`${i}`, false));
  expect(underWay.room().room).toEqual({ prompt: 1_024, doubtful: 0 });
  const prompt = aDelivery('good', true);
  underWay.add(prompt);
  expect(underWay.room().room.prompt).toBe(1_023);
  underWay.remove(prompt);
  expect(underWay.room().room.prompt).toBe(1_024);
  expect(underWay.size).toBe(600);
});

test('a prompt attempt that goes on for a second is doubtful, and so is its endpoint until it ends', () => {
  let now = 0;
  const underWay = trackUnderWay(() => now);
  const hanging = Array.from({ length: 700 }, (_, i) => aDelivery(`${i % 7}`, true));
  for (const delivery of hanging) underWay.add(delivery);
  now = 999;
  expect(underWay.room()).toEqual({ room: { prompt: 324, doubtful: 512 }, slow: [] });
  now = 1_000;
  expect(underWay.room()).toEqual({
    room: { prompt: 1_024, doubtful: 0 },
    slow: ['0', '1', '2', '3', '4', '5', '6'],
  });
  for (const delivery of hanging) underWay.remove(delivery);
  expect(underWay.room()).toEqual({ room: { prompt: 1_024, doubtful: 512 }, slow: [] });
});

test('there is an end to what may be under way', () => {
  let now = 0;
  const underWay = trackUnderWay(() => now);
  for (let i = 0; i < 2_000; i++) underWay.add(aDelivery(`${i}`, true));
  now = 2_000;
  expect(underWay.room().room).toEqual({ prompt: 48, doubtful: 0 });
});

test('claims are renewed of what was begun before', () => {
  let now = 0;
  const underWay = trackUnderWay(() => now);
  const [first, second] = [aDelivery('1', true), aDelivery('2', false)];
  underWay.add(first);
  now = 600;
  underWay.add(second);
  now = 1_000;
  expect(underWay.olderThan(1_000)).toEqual([first]);
  now = 1_600;
  expect(underWay.olderThan(1_000)).toEqual([first, second]);
  underWay.remove(first);
  expect(underWay.olderThan(1_000)).toEqual([second]);
});
