import { useNavigate, useSearch } from '@tanstack/react-router';

/** What a list shows is in the address of the page: it can be sent to somebody, and is still there after going back. */
export type ListSearch = Readonly<Record<string, string | undefined>>;

export function useListSearch(): [ListSearch, (changes: ListSearch) => void] {
  const search = useSearch({ strict: false }) as ListSearch;
  const navigate = useNavigate();
  const change = (changes: ListSearch) => {
    const all = Object.entries({ ...search, page: undefined, ...changes });
    const given = all.filter(([, value]) => value !== undefined && value !== '');
    void navigate({ to: '.', search: Object.fromEntries(given), replace: true });
  };
  return [search, change];
}
