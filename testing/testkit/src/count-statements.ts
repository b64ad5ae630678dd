import pg from 'pg';

/** The relay, the consumer, the reconciler and the watch of the clock ask all the time: how often depends on how long a test takes. */
const byTheClock = /^(?:outbox|inbox|dead_letters|reconcil|clock_of_database)/;

type Query = { name?: string; text?: string } | string;

/**
 * The statements that a service executes while `work` runs, in their order, by their names or first words. Those of the service's
 * relay and of everything that runs by the clock are left out.
 */
export async function statementsOf(service: string, work: () => Promise<unknown>): Promise<string[]> {
  const executed: string[] = [];
  const prototype = pg.Client.prototype as unknown as { query(...given: unknown[]): unknown };
  const { query } = prototype;
  prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const name = nameOf(given[0] as Query);
    const { application_name: by } = (
      this as unknown as { connectionParameters: { application_name?: string } }
    ).connectionParameters;
    if (by === `quittance-${service}` && !byTheClock.test(name)) executed.push(name);
    return query.apply(this, given);
  };
  try {
    await work();
  } finally {
    prototype.query = query;
  }
  return executed;
}

function nameOf(query: Query): string {
  if (typeof query !== 'string' && query.name !== undefined) return query.name;
  const text = typeof query === 'string' ? query : (query.text ?? '');
  return text.trim().split(/\s+/, 2).join(' ').toLowerCase();
}
