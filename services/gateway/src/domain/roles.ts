import { holds, type Scope } from './scopes.ts';

/** What a person may do in an account, the most first. */
export const roles = ['owner', 'admin', 'developer', 'accountant', 'viewer'] as const;
export type Role = (typeof roles)[number];

const reads: readonly Scope[] = [
  'invoices:read',
  'refunds:read',
  'payouts:read',
  'balances:read',
  'unresolved:read',
  'settings:read',
];

/** By which scopes a person acts in the account. Null: all there are. */
export const scopesOfRole = {
  owner: null,
  admin: null,
  // Nothing that moves money, so that the tokens of a developer do not either.
  developer: [
    ...(['invoices:write', 'webhooks:write', 'events:read', 'settings:write', 'tokens:write'] as const),
    'requests:read',
  ],
  accountant: [...reads, 'policy:read', 'events:read'],
  viewer: reads,
} as const satisfies Record<Role, readonly Scope[] | null>;

export const roleHolds = (role: Role, needed: Scope): boolean => holds(scopesOfRole[role], needed);

/** Who may see, invite and change the people of an account. */
export const managesPeople = (role: Role): boolean => role === 'owner' || role === 'admin';

/** Whether somebody of this role may give others that role, or change who has it: only owners change owners. */
export const mayGive = (own: Role, other: Role): boolean =>
  managesPeople(own) && (own === 'owner' || other !== 'owner');
