import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { unitsOf } from '@quittance/testkit/customer';
import { eventually } from '@quittance/testkit/eventually';
import { type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import type { Merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { expectHarmless, type Findings, recovered } from './expect-harmless.ts';
import { type Replica, startReplica } from './replicas.ts';
import { sized } from './size.ts';
import { untilArrived } from './until-arrived.ts';

/**
 * Two engines for one hot wallet: the one at work is stopped in the middle of a round, longer than its lease lasts, and
 * goes on when the other one has long taken over. What it still wants to sign is refused, and every payout has one
 * transaction.
 */
const ROUNDS = sized(1, 10);
const STOPPED_MS = sized(7_000, 60_000);
/** A transaction that is open in the stopped process is ended by Postgres after 15 seconds, and then the lease is free. */
const TAKEN_OVER_WITHIN_MS = 40_000;
const ENDS_WITHIN_MS = 60_000;
const PAYOUTS = sized(15, 30);
const PAYOUT = '0.001';
/** Each answer of the node takes so long that a round is never over before it is noticed. */
const ANSWER_MS = 40;
const SENT = 'eth_sendRawTransaction';
const REFUSED = 'another replica has taken the lease of the chain worker';

jest.setTimeout(patient(ROUNDS * (STOPPED_MS + TAKEN_OVER_WITHIN_MS + 60_000) + 120_000));

type Process = { replica: Replica; proxy: FaultProxy };

let quittance: Quittance;
let shop: Merchant;
const processes: Process[] = [];
let mining = true;
let miner: Promise<void>;

beforeAll(async () => {
  quittance = await startQuittance({ chains: [], fixedFees: true });
  const { stack } = quittance;
  await stack.services.payouts.stop();
  for (let i = 0; i < 2; i++) {
    const proxy = await startFaultProxy(stack.nodes.ethereum.rpc);
    const replica = await startReplica(quittance, 'payouts', { ETHEREUM_RPC_URL: proxy.url });
    processes.push({ replica, proxy });
  }
  stack.settingsOf('gateway')['PAYOUTS_URL'] = processes[0]?.replica.url ?? '';
  await stack.services.gateway.restart();
  shop = await quittance.merchant();
  const { body } = await shop.post('/api/invoices', { asset: 'ETH', amount: '5' });
  await quittance.ethereum.pay('ETH', body.data.address.address, '5');
  miner = (async () => {
    while (mining) {
      await quittance.ethereum.mine();
      await sleep(200);
    }
  })();
  await eventually(async () =>
    expect((await shop.get(`/api/invoices/${body.data.id}`)).body.status).toBe('paid'),
  );
});
afterAll(async () => {
  mining = false;
  await miner;
  for (const { replica, proxy } of processes) {
    replica.engine.resume();
    await replica.stop();
    await proxy.close();
  }
  await quittance?.stop();
});

const leaseToken = async (): Promise<bigint> => {
  const { token } = await quittance.db.one<{ token: string }>(
    `select token::text from payouts.leases where name like 'chain-worker:ethereum:%'`,
  );
  return BigInt(token);
};

/** Payouts wait in both processes' database: whoever has the lease signs them, one after the other. */
async function order(): Promise<string[]> {
  const recipients = Array.from({ length: PAYOUTS }, () => `0x${randomBytes(20).toString('hex')}`);
  const answers = await Promise.all(
    recipients.map((address) => shop.post('/api/payouts', { asset: 'ETH', amount: PAYOUT, address })),
  );
  expect(answers.map(({ status }) => status)).toEqual(recipients.map(() => 201));
  return recipients;
}

/** The process that sends at the moment; stopped as soon as it is known. */
async function stopTheOneAtWork(sentBefore: readonly number[]): Promise<Process> {
  return await eventually(
    () => {
      const found = processes.find(({ proxy }, i) => proxy.counted(SENT).asked > (sentBefore[i] ?? 0) + 2);
      if (found === undefined) throw new Error('nobody sends a transaction');
      found.replica.engine.pause();
      return found;
    },
    20_000,
    1,
  );
}

const linesOf = ({ replica }: Process, text: string) =>
  replica.log().filter((line) => line.includes(text)).length;

test(`an engine that was stopped for ${STOPPED_MS / 1_000} s is refused when it goes on`, () =>
  expectHarmless(
    'fencing',
    `two engines for one hot wallet, the one at work stopped for ${STOPPED_MS / 1_000} s`,
    overtake,
  ));

async function overtake(found: Findings): Promise<void> {
  let refusals = 0;
  for (const { proxy } of processes) proxy.set({ kind: 'latency', ms: ANSWER_MS });
  for (let round = 0; round < ROUNDS; round++) {
    const token = await leaseToken();
    const sent = processes.map(({ proxy }) => proxy.counted(SENT).asked);
    const ordering = order();
    const old = await stopTheOneAtWork(sent);
    const at = performance.now();
    // The gateway may be waiting for the very process that is stopped.
    const next = processes.find((one) => one !== old) as Process;
    const lines = linesOf(old, REFUSED);
    await eventually(async () => expect(await leaseToken()).toBeGreaterThan(token), TAKEN_OVER_WITHIN_MS);
    recovered(found, performance.now() - at);
    await eventually(
      () => expect(next.proxy.counted(SENT).asked).toBeGreaterThan(sent[processes.indexOf(next)] ?? 0),
      TAKEN_OVER_WITHIN_MS,
    );
    await sleep(Math.max(0, STOPPED_MS - (performance.now() - at)));
    const { last } = await quittance.db.one<{ last: string }>(
      'select coalesce(max(id), 0)::text as last from payouts.transactions',
    );
    old.replica.engine.resume();
    await eventually(() => expect(linesOf(old, REFUSED)).toBeGreaterThan(lines), 20_000);
    refusals += linesOf(old, REFUSED) - lines;
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
}
