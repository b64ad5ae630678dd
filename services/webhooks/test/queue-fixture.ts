import type { Fixture } from './fixture.ts';

/** The queue of an endpoint that never failed. */
export const freshQueue = { consecutive_failures: 0, failing_since: null, has_succeeded: false };

/** What suites about an endpoint's settings read and set of its queue. Endpoints are named by their keys. */
export const queueFixture = ({ db }: Pick<Fixture, 'db'>) => ({
  queuesOf: (key: string) =>
    db.rows(
      'select consecutive_failures, failing_since, has_succeeded from endpoint_queues where endpoint_key = $1',
      [key],
    ),

  /** The next attempt at its waiting deliveries is their tenth, and due. */
  async lastAttemptIsDue(key: string): Promise<void> {
    await db.rows("update deliveries set attempts = 9 where endpoint_key = $1 and state = 'waiting'", [key]);
    await db.rows('update endpoint_queues set retry_due_at = new_due_at where endpoint_key = $1', [key]);
  },

  /** Since when it is subscribed to its event types; reconciliation checks deliveries from there. */
  subscribedSince: async (key: string) =>
    (
      await db.one<{ since: Date | null }>('select subscribed_since as since from endpoints where key = $1', [
        key,
      ])
    ).since,
});
