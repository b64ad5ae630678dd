import { expect, test } from '@jest/globals';
import { patient } from '@quittance/testkit/patience';
import { compareSides } from '../../bench/compare-sides.ts';
import { openLab } from '../../bench/lab.ts';
import { deliveriesOf } from '../../bench/targets/webhook-deliveries.ts';
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
    const benchmark = deliveriesOf({ events, endpoints: ENDPOINTS, rounds: ROUNDS });
    const sides = await benchmark.setUp(openLab());
    try {
      // Throws when anything is missing, doubled or out of its sequence.
      const { ratio, spread, ours, theirs } = await compareSides(benchmark, sides);
      process.stdout.write(
        `${events} deliveries to ${ENDPOINTS} endpoints: ${ours.figure.toFixed(0)}/s, bare POSTs ${theirs.figure.toFixed(0)}/s; ` +
          `ratio ${ratio.toFixed(2)}, best ${spread[1].toFixed(2)}\n`,
      );
      expect(ratio).toBeGreaterThanOrEqual(RATIO_MIN);
    } finally {
      await sides.close();
    }
  },
  patient(600_000),
);
