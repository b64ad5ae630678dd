import type { Scope } from '../../session/session.ts';

/** In the order of the menu. */
export const scopeGroups: Readonly<Record<string, readonly Scope[]>> = {
  'Invoices and payment links': ['invoices:read', 'invoices:write'],
  Refunds: ['refunds:read', 'refunds:write'],
  'Unresolved funds': ['unresolved:read', 'unresolved:write'],
  Payouts: ['payouts:read', 'payouts:write', 'payouts:approve'],
  'Payout policy': ['policy:read', 'policy:write'],
  Books: ['balances:read'],
  'Webhooks and events': ['webhooks:read', 'webhooks:write', 'events:read'],
  Settings: ['settings:read', 'settings:write', 'mail:read', 'mail:write'],
  'API tokens': ['tokens:read', 'tokens:write'],
  'What has happened': ['requests:read', 'audit:read'],
};

/** What programs usually need. */
export const presets: readonly { label: string; text: string; scopes: readonly Scope[] }[] = [
  {
    label: 'Shop',
    text: 'Creates invoices and learns what happens to them. Moves no money.',
    scopes: ['invoices:write', 'events:read'],
  },
  {
    label: 'Bookkeeper',
    text: 'Reads everything that has to do with money.',
    scopes: ['invoices:read', 'refunds:read', 'payouts:read', 'balances:read', 'unresolved:read'],
  },
  {
    label: 'Payouts',
    text: 'Pays out of the balance.',
    scopes: ['payouts:write', 'policy:read', 'balances:read'],
  },
];

const writeOf = (scope: Scope): string => scope.replace(/:read$/, ':write');

/** Whether a scope is chosen itself, or comes with another: `x:write` includes `x:read`. */
export const includes = (chosen: readonly string[], scope: Scope): boolean =>
  chosen.includes(scope) || chosen.includes(writeOf(scope));

/** Without those that others include. */
export const withoutIncluded = (chosen: readonly Scope[]): Scope[] =>
  chosen.filter((scope) => writeOf(scope) === scope || !chosen.includes(writeOf(scope) as Scope));

/** The entries of an allow-list as people write them: one a line, or with commas or spaces between. */
export const addressesIn = (text: string): string[] => text.split(/[\s,;]+/).filter((part) => part !== '');
