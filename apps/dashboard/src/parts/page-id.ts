import { useParams } from '@tanstack/react-router';

/** The id in the address of a page of one resource. */
export function usePageId(): string {
  const { id } = useParams({ strict: false }) as { id?: string };
  if (id === undefined) throw new Error('the address of this page has an id');
  return id;
}
