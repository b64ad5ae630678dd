import { expect, test } from '@jest/globals';
import { isAudited } from './audited.ts';
import { needsStepUp } from './person-operations.ts';
import { routes } from './routes.ts';
import { scopeOfOperation } from './scopes.ts';

/** They change nothing but what is sent once more. */
const SENDS_AGAIN = [
  'POST /api/webhooks/:id/test',
  'POST /api/webhooks/:id/replay',
  'POST /api/deliveries/:id/redeliver',
  'POST /api/mail-recipients/:id/code',
  'POST /api/mail-recipients/:id/test',
];
const SETTINGS = /^(?:policy:write|settings:write|webhooks:write|mail:write|payouts:approve)$/;

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
    names.filter((name) => {
      const [method = '', pattern = ''] = name.split(' ');
      return isAudited(method, { auth: 'token', pattern });
    }),
  );
  expect([all, none]).toEqual([operations, []]);
});

test('everything that operators change in the console is audited and needs a step-up, and nothing that they read', () => {
  const ofOperators = routes.filter(({ auth }) => auth === 'operator');
  expect(ofOperators.length).toBeGreaterThan(5);
  for (const { methods, ...route } of ofOperators)
    for (const method of [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])]) {
      const reads = method === 'GET' || method === 'HEAD';
      expect([route.pattern, method, isAudited(method, route), needsStepUp(method, route)]).toEqual([
        ...[route.pattern, method, !reads, !reads],
      ]);
    }
});
