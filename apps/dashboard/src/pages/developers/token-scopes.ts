import type { Scope } from '../../session/session.ts';

/** In the order of the menu. */
export const scopeGroups: readonly { name: string; scopes: readonly Scope[] }[] = [
  { name: 'Invoices and payment links', scopes: ['invoices:read', 'invoices:write'] },
  { name: 'Refunds', scopes: ['refunds:read', 'refunds:write'] },
  { name: 'Unresolved funds', scopes: ['unresolved:read', 'unresolved:write'] },
  { name: 'Payouts', scopes: ['payouts:read', 'payouts:write', 'payouts:approve'] },
  { name: 'Payout policy', scopes: ['policy:read', 'policy:write'] },
  { name: 'Books', scopes: ['balances:read'] },
  { name: 'Webhooks and events', scopes: ['webhooks:read', 'webhooks:write', 'events:read'] },
  { name: 'Settings', scopes: ['settings:read', 'settings:write', 'mail:read', 'mail:write'] },
  { name: 'API tokens', scopes: ['tokens:read', 'tokens:write'] },
  { name: 'What has happened', scopes: ['requests:read', 'audit:read'] },
];

/** What programs usually need. */
export const presets: readonly { id: string; label: string; text: string; scopes: readonly Scope[] }[] = [
  {
    id: 'shop',
    label: 'Shop',
    text: 'Creates invoices and learns what happens to them. Moves no money.',
    scopes: ['invoices:write', 'events:read'],
  },
  {
    id: 'bookkeeper',
    label: 'Bookkeeper',
    text: 'Reads everything that has to do with money.',
    scopes: ['invoices:read', 'refunds:read', 'payouts:read', 'balances:read', 'unresolved:read'],
  },
  {
    id: 'payouts',
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
