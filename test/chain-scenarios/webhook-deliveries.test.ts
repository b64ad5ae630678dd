import { expect, test } from '@jest/globals';
import { patient } from '@quittance/testkit/patience';
import { deliverBacklogs } from '../../bench/webhook-deliveries.ts';
import { sized } from './size.ts';

/**
 * Of the median. Every day other suites take the cores in turn, and a small round is over before it has got going: then
 * it is only asked whether something is wrong by an order of magnitude.
 */
const RATIO_MIN = sized(0.1, 0.5);
const ENDPOINTS = 50;
const ROUNDS = sized(2, 5);

test(
  'events to 50 endpoints: none missing, none twice, no gap, and how fast beside bare POSTs',
  async () => {
    const events = sized(2_000, 20_000);
    // Throws when anything is missing, doubled or out of its sequence.
    const { ratio, best, oursPerSecond, barePerSecond } = await deliverBacklogs(events, ENDPOINTS, ROUNDS);
    process.stdout.write(
      `${events} deliveries to ${ENDPOINTS} endpoints: ${oursPerSecond.toFixed(0)}/s, bare POSTs ${barePerSecond.toFixed(0)}/s; ` +
        `ratio ${ratio.toFixed(2)}, best ${best.toFixed(2)}\n`,
    );
    expect(ratio).toBeGreaterThanOrEqual(RATIO_MIN);
  },
  patient(600_000),
);
