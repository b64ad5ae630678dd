import {
  AuthenticationError,
  ConnectionError,
  QuittanceError,
  RateLimitError,
  ServerError,
  UnavailableError,
} from '@quittance/client';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';

export const ME = ['me'] as const;

/**
 * A session that was ended elsewhere, has expired, or is of another account since somebody signed in in another window: whatever is
 * asked next finds out, and the page follows.
 */
function onError(error: Error): void {
  const isOther = error instanceof QuittanceError && error.code === 'other_account';
  const hasEnded =
    error instanceof AuthenticationError &&
    error.code !== 'sign_in_failed' &&
    error.code !== 'second_factor_needed';
  if (isOther || hasEnded) void queries.invalidateQueries({ queryKey: ME });
}

/** Whether the same request may succeed in a moment. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  error instanceof UnavailableError ||
  error instanceof ServerError ||
  error instanceof RateLimitError;

/** How often lists that are looked at are read again: events say sooner what has changed, to those who may read them. */
export const REFRESH_MS = 15_000;

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // The client has tried again itself.
      retry: false,
      networkMode: 'always',
    },
    // Nothing is sent twice, or later than somebody has pressed the button.
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** Has lists, and whatever else is read under these names, read again where they are shown. */
export const readAgain = async (...lists: string[]): Promise<void> => {
  await Promise.all(lists.map((list) => queries.invalidateQueries({ queryKey: [list] })));
};

/** What went wrong, in words for the person. */
export function textOf(error: unknown): string {
  if (error instanceof ConnectionError)
    return 'The server cannot be reached. Check the connection, then try again.';
  if (error instanceof QuittanceError) return error.message;
  return `Something has gone wrong in this page (${String(error)}). Load it again, and tell the operator if that does not help.`;
}
