import { quittance } from '../client.ts';
import { REFRESH_MS } from '../queries.ts';
import { managesPeople, useSession } from '../session/session.ts';
import { useAllowed, useRead } from './reading.ts';

/* What several pages read of the account. */

/** The assets that can be used now. */
export const useAssets = () =>
  useRead(['assets'], (options) => quittance.assets.list(options), { staleTime: 60_000 });

export const useBalances = () =>
  useAllowed('balances:read', ['balances'], (options) => quittance.balances.list(options), {
    refetchInterval: REFRESH_MS,
  });

/** All of the address book, at most 1,000 entries. */
export const useAddressBook = () =>
  useAllowed('policy:read', ['address-book', 'all'], (options) =>
    Array.fromAsync(quittance.addressBook.list({}, options)),
  );

export const usePayoutPolicy = () =>
  useAllowed('policy:read', ['payout-policy'], (options) => quittance.payoutPolicy.retrieve(options));

/** The settings of new invoices. */
export const useInvoiceSettings = () =>
  useAllowed('settings:read', ['invoice-settings'], (options) => quittance.invoiceSettings.retrieve(options));

/** Who has done something, by an id of the API: a name where the reader may know it, otherwise the end of the id. */
export function useActorName(): (id: string) => string {
  const session = useSession();
  const { data: people = [] } = useRead(['people', 'names'], (options) => quittance.people.list(options), {
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
