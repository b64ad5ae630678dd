import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from '@jest/globals';
import { CAME_LATE } from '@quittance/shared/commands';
import { eventually } from '@quittance/testkit/eventually';
import { type Merchant, merchant } from '@quittance/testkit/merchant';
import { startReplica } from '@quittance/testkit/replica';
import { shiftedClock } from '@quittance/testkit/shifted-clock';
import { askFor, givenTo, newAddress, paidExactly } from './asked-payouts.ts';
import type { Findings } from './expect-harmless.ts';
import { leaseToken, TAKEN_OVER_WITHIN_MS } from './fencing.ts';
import { type Replicated, SECOND_LOGS } from './replicas.ts';

const OFF_MS = 10_000;
const EACH = 5;
/** Payouts that this asks for and gets. */
export const CLOCKS_COST = BigInt(EACH);
const AHEAD_LOGS = 'ahead-logs';

/**
 * Machines whose clocks are 10 s off: a gateway ahead, whose requests services refuse because they were signed in the future;
 * and a process of payouts behind, next to one with the right time, for one hot wallet: the signer signs nothing for it, and it
 * gives its lease to the other. Each says which clock is wrong, and every payout is paid once.
 * @param shop asks by a gateway and a process of payouts with the right time
 */
export async function payByWrongClocks(
  { quittance, replicas, payouts: [own, second] }: Replicated,
  shop: Merchant,
  found: Findings,
): Promise<void> {
  const { stack } = quittance;
  const logs = dirname(stack.pricesFile);
  const lines = (folder: string, service: string) =>
    readFileSync(join(logs, folder, `${service}.log`), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { level: string; msg: string; reason?: string });
  Object.assign(stack.settingsOf('payouts'), shiftedClock(-OFF_MS));
  // The one with the wrong clock is at work first.
  const leasedBefore = await leaseToken(quittance);
  const hasLease = async () => expect(await leaseToken(quittance)).toBeGreaterThan(leasedBefore);
  second.engine.pause();
  await own.engine
    .restart()
    .then(() => eventually(hasLease, TAKEN_OVER_WITHIN_MS))
    .finally(() => second.engine.resume());
  // To the process of payouts that has the right time.
  const to = { PAYOUTS_URL: `http://127.0.0.1:${replicas.payouts.port}` };
  const { engine, port } = await startReplica(
    quittance,
    'gateway',
    { ...to, ...shiftedClock(OFF_MS) },
    AHEAD_LOGS,
  );
  try {
    const ahead = merchant(`http://127.0.0.1:${port}`, shop.id, shop.token, EACH, quittance.clientLog);
    const keys = Array.from({ length: EACH }, () => [newAddress(), randomBytes(8).toString('hex')] as const);
    const askAll = (by: Merchant) => Promise.all(keys.map(([to, key]) => askFor(by, to, key)));
    const refused = await askAll(ahead);
    expect(refused.map(({ answer }) => answer.status)).toEqual(keys.map(() => 503));
    for (const { to } of refused) expect(await givenTo(quittance, to)).toEqual([]);

    // The same keys once more, by a gateway that has the right time too.
    const asked = await askAll(shop);
    expect(asked.map(({ answer }) => answer.status)).toEqual(asked.map(() => 201));
    await eventually(async () => {
      for (const one of asked) await paidExactly(quittance, one);
    }, 30_000);
    const ids = asked.map(({ answer }) => answer.body.data.id);
    const { n } = await quittance.db.one<{ n: number }>(
      'select count(distinct nonce)::int as n from payouts.payments join payouts.transactions using (replacement_group) where payout_id = any($1)',
      [ids],
    );
    expect(n).toBe(asked.length);
    found.fired = refused.length + asked.length;

    // By as much as is certain: the time that the question took is not.
    const wrong = (where: string) => ({
      level: 'error',
      msg: expect.stringMatching(
        `^the clock of this machine is (?:9\\.\\d|10\\.0) s ${where} the database’s: set both by NTP$`,
      ),
    });
    await eventually(() => {
      expect(lines(AHEAD_LOGS, 'gateway')).toContainEqual(expect.objectContaining(wrong('ahead of')));
      expect(lines('logs', 'payouts')).toContainEqual(expect.objectContaining(wrong('behind')));
      expect(lines('logs', 'payouts')).toContainEqual(expect.objectContaining({ because: CAME_LATE }));
      const reason = expect.stringContaining('its clock is ahead of this machine’s, set both by NTP');
      expect(second.said('the gateway signed this request in the future')).toBe(EACH);
      expect(lines(SECOND_LOGS, 'payouts')).toContainEqual(expect.objectContaining({ reason }));
    });
  } finally {
    await engine.stop();
  }
}
