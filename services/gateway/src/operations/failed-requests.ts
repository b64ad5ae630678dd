import type { Ports } from '../ports.ts';
import { deleteOldRequests, insertFailedRequests } from '../store/failed-requests.ts';

/** Writes requests that failed, all in one statement. Those that cannot be written are lost. @returns 0: the next step can wait. */
export async function writeFailedRequests({
  db,
  failedRequests,
}: Pick<Ports, 'db' | 'failedRequests'>): Promise<number> {
  const requests = failedRequests.take();
  if (requests.length > 0) await insertFailedRequests(db, requests);
  return 0;
}

/** Deletes those that are too old, a part at a time. @returns how many */
export const deleteOldFailedRequests = ({ db, clock }: Pick<Ports, 'db' | 'clock'>): Promise<number> =>
  deleteOldRequests(db, clock.now());
