import { Quittance } from '@quittance/client';

/** The API, for the person who has signed in. What failed is shown with a button to try again: only lost connections are retried. */
export const quittance: Quittance = new Quittance({
  url: window.location.origin,
  session: true,
  maxRetries: 1,
});
