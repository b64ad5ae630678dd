import { type UseQueryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { REFRESH_MS } from '../queries.ts';
import { type Scope, useMay } from '../session/session.ts';

type Read<T> = (options: { signal: AbortSignal }) => Promise<T>;
type Rest<T> = Omit<UseQueryOptions<T>, 'queryKey' | 'queryFn'>;

/** Reads something of the API. Others that read it under the same key have the same answer. */
export const useRead = <T>(key: readonly unknown[], read: Read<T>, rest?: Rest<T>) =>
  useQuery<T>({ queryKey: key, queryFn: ({ signal }) => read({ signal }), ...rest });

/** The same of what others change while it is looked at: it is read again from time to time. */
export const useLive = <T>(key: readonly unknown[], read: Read<T>, rest?: Rest<T>) =>
  useRead(key, read, { refetchInterval: REFRESH_MS, ...rest });

/** The same of what the role must allow: others read nothing. */
export const useAllowed = <T>(scope: Scope, key: readonly unknown[], read: Read<T>, rest?: Rest<T>) =>
  useRead(key, read, { ...rest, enabled: useMay(scope) });

/** A part of a list that grows downwards: `before` is where the next one begins, undefined at the end of the list. */
export type Part<T> = { rows: T[]; before: number | undefined };

/** A list that grows downwards, by the newest first. Once more than its first part is shown, it is not read again by itself. */
export function useParts<T>(
  key: readonly unknown[],
  read: (before: number | undefined, options: { signal: AbortSignal }) => Promise<Part<T>>,
  everyMs: number = REFRESH_MS,
) {
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, { signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ before }) => before,
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) > 1 ? false : everyMs),
  });
}
