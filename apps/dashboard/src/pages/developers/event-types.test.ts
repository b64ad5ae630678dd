import { expect, test } from '@jest/globals';
import { defaultEventTypes, eventTypes as sent } from '@quittance/webhooks/domain/event-types';
import { defaultTypes, eventGroups, eventTypes } from './event-types.ts';

test('what is offered is what endpoints can receive, with the same defaults', () => {
  expect(eventTypes.toSorted()).toEqual(sent.toSorted());
  expect(defaultTypes.toSorted()).toEqual(defaultEventTypes.toSorted());
});

test('each type but that of tests is in one group', () => {
  const grouped = eventGroups.flatMap(({ types }) => types);
  expect([...grouped, 'webhook.test'].toSorted()).toEqual(eventTypes.toSorted());
});
