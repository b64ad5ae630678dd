import { AuthenticationError, type SignedIn } from '@quittance/client';
import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { unboundClient } from '../client.ts';
import { ME } from '../queries.ts';

export type Scope = NonNullable<SignedIn['scopes']>[number];

/** Who has signed in. Undefined while it is not known, null when nobody has. */
export function useSignedIn() {
  return useQuery({
    queryKey: ME,
    queryFn: async ({ signal }) => {
      try {
        return await unboundClient.me.retrieve({ signal });
      } catch (error) {
        if (error instanceof AuthenticationError) return null;
        throw error;
      }
    },
    // Another window may have signed in for another account, which this one must not act for unnoticed.
    refetchOnWindowFocus: 'always',
    refetchInterval: 60_000,
  });
}

const SessionContext = createContext<SignedIn | undefined>(undefined);
export const SessionProvider = SessionContext.Provider;

/** Who has signed in: on every page behind the sign-in. */
export function useSession(): SignedIn {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('this page is shown to nobody who has not signed in');
  return session;
}

/** `x:write` includes `x:read`. Null: everything. */
export function allows({ scopes }: Pick<SignedIn, 'scopes'>, needed: Scope): boolean {
  if (scopes === null) return true;
  return scopes.includes(needed) || scopes.includes(needed.replace(/:read$/, ':write') as Scope);
}

/** Whether the role of the person allows what needs this scope. The API decides; a page only shows no button that it would refuse. */
export const useMay = (needed: Scope): boolean => allows(useSession(), needed);

export const managesPeople = ({ role }: Pick<SignedIn, 'role'>): boolean =>
  role === 'owner' || role === 'admin';
