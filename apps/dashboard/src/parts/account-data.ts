import { useQuery } from '@tanstack/react-query';
import { quittance } from '../client.ts';
import { REFRESH_MS } from '../queries.ts';
import { managesPeople, useMay, useSession } from '../session/session.ts';

/* What several pages read of the account. */

/** The assets that can be used now. */
export const useAssets = () =>
  useQuery({
    queryKey: ['assets'],
    queryFn: ({ signal }) => quittance.assets.list({ signal }),
    staleTime: 60_000,
  });

export function useBalances() {
  return useQuery({
    queryKey: ['balances'],
    queryFn: ({ signal }) => quittance.balances.list({ signal }),
    refetchInterval: REFRESH_MS,
    enabled: useMay('balances:read'),
  });
}

/** All of the address book, at most 1,000 entries. */
export function useAddressBook() {
  return useQuery({
    queryKey: ['address-book', 'all'],
    queryFn: async ({ signal }) => await Array.fromAsync(quittance.addressBook.list({}, { signal })),
    enabled: useMay('policy:read'),
  });
}

export function usePayoutPolicy() {
  return useQuery({
    queryKey: ['payout-policy'],
    queryFn: ({ signal }) => quittance.payoutPolicy.retrieve({ signal }),
    enabled: useMay('policy:read'),
  });
}

/** Who has done something, by an id of the API: a name where the reader may know it, otherwise the end of the id. */
export function useActorName(): (id: string) => string {
  const session = useSession();
  const { data: people = [] } = useQuery({
    queryKey: ['people', 'names'],
    queryFn: ({ signal }) => quittance.people.list({ signal }),
    enabled: managesPeople(session),
    staleTime: 60_000,
  });
  return (id) => {
    if (id === session.id) return 'you';
    const name = people.find((person) => person.id === id)?.name;
    const end = `…${id.slice(-6)}`;
    return name ?? (id.startsWith('per_') ? `a person (${end})` : `the API token ${end}`);
  };
}
