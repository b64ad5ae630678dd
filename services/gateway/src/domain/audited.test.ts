import { expect, test } from '@jest/globals';
import { isAudited } from './audited.ts';
import { scopeOfOperation } from './scopes.ts';

/** They change nothing but what is sent once more. */
const SENDS_AGAIN = [
  'POST /api/webhooks/:id/test',
  'POST /api/webhooks/:id/replay',
  'POST /api/deliveries/:id/redeliver',
];
const SETTINGS = /^(?:policy:write|settings:write|webhooks:write|payouts:approve)$/;

test('every operation that changes settings, endpoints, policies or approvals is audited', () => {
  const changing = Object.entries(scopeOfOperation)
    .filter(([operation, scope]) => SETTINGS.test(scope) && !SENDS_AGAIN.includes(operation))
    .map(([operation]) => operation);
  expect(changing.length).toBeGreaterThan(10);
  const operations = [
    ...changing,
    'PUT /api/automatic-payouts/:asset',
    'DELETE /api/automatic-payouts/:asset',
  ];
  const [all, none] = [operations, [...SENDS_AGAIN, 'GET /api/webhooks', 'POST /api/invoices']].map((names) =>
    names.filter((name) => isAudited(...(name.split(' ') as [string, string]))),
  );
  expect([all, none]).toEqual([operations, []]);
});
