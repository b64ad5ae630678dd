import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { defaultTypes, eventGroups, eventTypes } from './event-types.ts';

/** The table of the guide, which is generated from what the service sends: a type, and whether endpoints receive it by default. */
const guide = readFileSync(new URL('../../../../../docs/webhooks.md', import.meta.url), 'utf8');
const rows = [...guide.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| (yes|no) \|/gm)];

test('what is offered is what endpoints can receive, with the same defaults', () => {
  expect(rows.length).toBeGreaterThan(10);
  expect(eventTypes.toSorted()).toEqual(rows.map(([, type]) => type).toSorted());
  expect(defaultTypes.toSorted()).toEqual(
    rows
      .filter(([, , isDefault]) => isDefault === 'yes')
      .map(([, type]) => type)
      .toSorted(),
  );
});

test('each type but that of tests is in one group', () => {
  const grouped = Object.values(eventGroups).flat();
  expect([...grouped, 'webhook.test'].toSorted()).toEqual(eventTypes.toSorted());
});
