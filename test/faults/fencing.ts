import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { unitsOf } from '@quittance/testkit/customer';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { askFor, newAddress, PAYOUT } from './asked-payouts.ts';
import { type Findings, recovered } from './expect-harmless.ts';
import type { PayoutsProcess, Replicated } from './replicas.ts';
import { sized } from './size.ts';
import { untilArrived } from './until-arrived.ts';

const ROUNDS = sized(1, 10);
export const STOPPED_MS = sized(7_000, 60_000);
/** A transaction that is open in the stopped process is ended by Postgres after 15 seconds, and then the lease is free. */
export const TAKEN_OVER_WITHIN_MS = 40_000;
const ENDS_WITHIN_MS = 60_000;
const PAYOUTS = sized(15, 30);
/** All rounds: each is stopped, taken over, and paid to its end. */
export const OVERTAKES_WITHIN_MS =
  ROUNDS * (STOPPED_MS + 2 * TAKEN_OVER_WITHIN_MS + ENDS_WITHIN_MS) + 2 * ENDS_WITHIN_MS;
/** What they cost at most, in all rounds. */
export const FENCING_COSTS = BigInt(ROUNDS * PAYOUTS);
/** Each answer of the node takes so long that a round is never over before it is noticed. */
const ANSWER_MS = 40;
const SENT = 'eth_sendRawTransaction';
const REFUSED = 'another replica has taken the lease of the chain worker';

/** Grows with each holder of the lease of Ethereum's chain worker. */
export const leaseToken = async ({ db }: Quittance): Promise<bigint> => {
  const { token } = await db.one<{ token: string }>(
    `select token::text from payouts.leases where name like 'chain-worker:ethereum:%'`,
  );
  return BigInt(token);
};

/** Payouts wait in both processes' database: whoever has the lease signs them, one after the other. */
async function order(shop: Merchant): Promise<string[]> {
  const asked = await Promise.all(Array.from({ length: PAYOUTS }, () => askFor(shop, newAddress())));
  expect(asked.map(({ answer }) => answer.status)).toEqual(asked.map(() => 201));
  return asked.map(({ to }) => to);
}

/** The process that sends at the moment; stopped as soon as it is known. */
const stopTheOneAtWork = ({ payouts }: Replicated, sentBefore: readonly number[]): Promise<PayoutsProcess> =>
  eventually(
    () => {
      const found = payouts.find(({ node }, i) => node.counted(SENT).asked > (sentBefore[i] ?? 0) + 2);
      if (found === undefined) throw new Error('nobody sends a transaction');
      found.engine.pause();
      return found;
    },
    20_000,
    1,
  );

/**
 * Two engines for one hot wallet: the one at work is stopped in the middle of a round, longer than its lease lasts, and
 * goes on when the other one has long taken over. What it still wants to sign is refused, and every payout has one
 * transaction.
 */
export async function overtake(on: Replicated, shop: Merchant, found: Findings): Promise<void> {
  const { quittance, payouts } = on;
  let refusals = 0;
  for (const { node } of payouts) node.set({ kind: 'latency', ms: ANSWER_MS });
  for (let round = 0; round < ROUNDS; round++) {
    const token = await leaseToken(quittance);
    const sent = payouts.map(({ node }) => node.counted(SENT).asked);
    const ordering = order(shop);
    const old = await stopTheOneAtWork(on, sent);
    const at = performance.now();
    // The gateway may be waiting for the very process that is stopped.
    const next = payouts.find((one) => one !== old) as PayoutsProcess;
    const lines = old.said(REFUSED);
    await eventually(
      async () => expect(await leaseToken(quittance)).toBeGreaterThan(token),
      TAKEN_OVER_WITHIN_MS,
    );
    recovered(found, performance.now() - at);
    await eventually(
      () => expect(next.node.counted(SENT).asked).toBeGreaterThan(sent[payouts.indexOf(next)] ?? 0),
      TAKEN_OVER_WITHIN_MS,
    );
    await sleep(Math.max(0, STOPPED_MS - (performance.now() - at)));
    const { last } = await quittance.db.one<{ last: string }>(
      'select coalesce(max(id), 0)::text as last from payouts.transactions',
    );
    old.engine.resume();
    await eventually(() => expect(old.said(REFUSED)).toBeGreaterThan(lines), 20_000);
    refusals += old.said(REFUSED) - lines;
    found.fired += 1;

    const recipients = await ordering;
    await eventually(
      async () => {
        for (const to of recipients) {
          expect([to, await quittance.ethereum.balance('ETH', to)]).toEqual([to, unitsOf('ETH', PAYOUT)]);
        }
      },
      ENDS_WITHIN_MS,
      500,
    );
    // Under its old lease it has signed nothing more, and whatever it sent again was the same bytes.
    const late = await quittance.db.rows<{ id: string }>(
      'select id::text from payouts.transactions where id > $1 and fence <= $2',
      [last, token.toString()],
    );
    found.violations.push(
      ...late.map(({ id }) => `transaction ${id} was signed under a lease that was lost`),
    );
    const twice = await quittance.db.rows<{ payout_id: string }>(
      `select payout_id from payouts.payments m join payouts.transactions t using (replacement_group)
       group by payout_id having count(*) > 1`,
    );
    found.violations.push(...twice.map((one) => `payout ${one.payout_id} has two transactions`));
  }
  await eventually(
    async () =>
      expect(
        await quittance.db.rows(`select id from payouts.payouts where status <> 'mined' limit 3`),
      ).toEqual([]),
    ENDS_WITHIN_MS,
    500,
  );
  // Its carrier is stopped before the invariants are checked.
  await untilArrived(quittance, new Date(), ENDS_WITHIN_MS);
  expect(refusals).toBeGreaterThanOrEqual(ROUNDS);
  const nonces = await quittance.db.rows<{ nonce: string }>(
    `select nonce::text from payouts.transactions where purpose = 'payout' order by nonce`,
  );
  expect(new Set(nonces.map(({ nonce }) => nonce)).size).toBe(nonces.length);
  for (const { node } of payouts) node.set({ kind: 'pass' });
}
