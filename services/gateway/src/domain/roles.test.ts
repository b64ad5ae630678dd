import { describe, expect, test } from '@jest/globals';
import { personOperations } from './person-operations.ts';
import { mayGive, roleHolds, roles } from './roles.ts';
import { routes } from './routes.ts';
import { scopeNames, scopes } from './scopes.ts';

describe('roles', () => {
  test('of people who neither own nor administer the account move no money, and approve no payout', () => {
    const money = scopeNames.filter(
      (scope) => /moves money/i.test(scopes[scope]) || scope === 'payouts:approve',
    );
    expect(money).toHaveLength(4);
    for (const role of ['developer', 'accountant', 'viewer'] as const)
      expect(money.filter((scope) => roleHolds(role, scope))).toEqual([]);
  });

  test('that only look have no scope to write', () => {
    for (const role of ['accountant', 'viewer'] as const)
      expect(scopeNames.filter((scope) => !scope.endsWith(':read') && roleHolds(role, scope))).toEqual([]);
  });

  test('read the audit log when they own or administer the account', () => {
    expect(roles.filter((role) => roleHolds(role, 'audit:read'))).toEqual(['owner', 'admin']);
  });

  test('are given by owners, and by admins all but the owner', () => {
    const given = roles.map((own) => [own, roles.filter((other) => mayGive(own, other))]);
    expect(given).toEqual([
      ['owner', roles],
      ['admin', roles.slice(1)],
      ['developer', []],
      ['accountant', []],
      ['viewer', []],
    ]);
  });

  test('are asked of each route that needs a session', () => {
    const reached = routes
      .filter(({ auth }) => auth === 'session')
      .flatMap(({ methods, pattern }) => methods.map((method) => `${method} ${pattern}`));
    expect(reached.sort()).toEqual(Object.keys(personOperations).sort());
  });
});
