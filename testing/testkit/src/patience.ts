import { z } from 'zod';

/**
 * How many times as long as on a machine with nothing else to do tests wait and let things take: `TEST_PATIENCE`. 1 where
 * nobody says otherwise; `npm test` runs several suites at once, on machines nobody knows, and asks for 2. That is the most:
 * a test that needs more waits for the wrong thing. What is claimed in so many seconds is shown at full size, alone, with 1.
 */
const patience = z.coerce.number().min(1).max(2).default(1).parse(process.env['TEST_PATIENCE']);

/** A time limit, in milliseconds, on this machine. */
export const patient = (ms: number): number => ms * patience;

/** Until a whole stack has started, beside others that start. */
export const STACK_STARTED_WITHIN_MS = patient(60_000);
