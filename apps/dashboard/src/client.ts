import { Quittance } from '@quittance/client';

// What failed is shown with a button to try again: only lost connections are retried.
const options = { url: window.location.origin, session: true, maxRetries: 1 } as const;

/** The API, for whoever's session the browser has: to ask who that is, and to sign in. */
export const unboundClient: Quittance = new Quittance(options);

/**
 * The API, for the account that the page shows. Another window may sign in for another account: the API then refuses what this
 * one sends, instead of doing it for an account that it does not show.
 */
export let quittance: Quittance = unboundClient;

/** Names the account for which everything is asked from now on. */
export function actFor(account: string | undefined): void {
  quittance = account === undefined ? unboundClient : new Quittance({ ...options, account });
}
