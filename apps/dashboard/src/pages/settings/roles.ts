import type { Role } from '@quittance/client';

/** In the order of the API, the most first, with what each may do. */
export const roleMeanings: Readonly<Record<Role, string>> = {
  owner: 'Everything. Only owners change owners, and an account keeps one.',
  admin: 'Everything, but for changing owners.',
  developer: 'Invoices, webhooks, events, settings, and API tokens that move no money.',
  accountant: 'Reads what a viewer does, the payout policy and events.',
  viewer: 'Reads invoices, refunds, payouts, balances, unresolved funds and settings.',
};

const roles = Object.keys(roleMeanings) as Role[];

/** Which roles somebody may give, and who of them may be changed: only owners change owners. */
export const givenBy = (own: Role): Role[] =>
  own === 'owner' ? roles : roles.filter((role) => role !== 'owner');
export const mayChange = (own: Role, other: Role): boolean => own === 'owner' || other !== 'owner';

/** What is passed on: behind `#`, so that no server between sees the token. */
export const invitationLink = (origin: string, token: string): string =>
  `${origin}/dashboard/#invitation=${token}`;
