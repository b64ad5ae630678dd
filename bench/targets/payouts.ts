import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Benchmark, Sample } from '../benchmark.ts';
import { drive, driveAtRate } from '../drive.ts';
import { processesOf } from '../lab.ts';
import { fundAccounts } from '../yardsticks/ledger-accounts.ts';
import { openTpcB } from '../yardsticks/tpc-b.ts';

const CLIENTS = 32;
const ACCOUNTS = 16;
const SECONDS = 3;
/** V8 compiles what is hot only after a while: before that the same path is four times as slow. */
const WARM_UP_SECONDS = 12;
const STEADY_SECONDS = 4;
/** Shares of the best rate at which the latency is looked at, to find where it begins to climb. */
const STEPS = [0.6, 0.7, 0.8, 0.9] as const;
const CLIMBED = 5;

export const postPayouts: Benchmark = {
  name: 'payouts',
  what: 'POST /api/payouts end to end, with the hold that the ledger places: 16 accounts, 32 clients, after 12 s of warm-up.',
  yardstick: 'TPC-B transactions of pgbench at their best, 16 clients, the same server',
  target: { atLeast: 0.25 },
  unit: '/s',
  warmUp: false,
  async setUp(lab) {
    const quittance = await lab.quittance();
    const post = await payoutsOf(quittance);
    const tpcB = await openTpcB(quittance.stack.engines.postgres.url);
    await drive(post, CLIENTS, WARM_UP_SECONDS);
    return {
      ours: () => drive(post, CLIENTS, SECONDS),
      theirs: () => tpcB.measure(SECONDS),
      close: async () => undefined,
      processes: processesOf(quittance),
    };
  },
};

export const payoutLatency: Benchmark = {
  name: 'payout-latency',
  what: 'p99 of POST /api/payouts at half of its best rate, offered at a steady pace. `knee`: the share of the best rate up to which p99 stays below five times that p50.',
  yardstick: 'p50 of the same',
  target: { atMost: 5 },
  unit: 'ms',
  rounds: 3,
  warmUp: false,
  async setUp(lab) {
    const quittance = await lab.quittance();
    const post = await payoutsOf(quittance);
    let turn = 0;
    const next = () => post(turn++);
    await drive(post, CLIENTS, WARM_UP_SECONDS);
    const { figure: best } = await drive(post, CLIENTS, SECONDS);
    const { p50Ms = 0 } = await driveAtRate(next, best / 2, STEADY_SECONDS);
    const knee = await kneeOf(next, best, p50Ms * CLIMBED);
    let last: Sample | undefined;
    return {
      async ours() {
        last = await driveAtRate(next, best / 2, STEADY_SECONDS);
        return { ...last, figure: last.p99Ms ?? 0, more: { offered: best / 2, knee } };
      },
      async theirs() {
        const { p50Ms: figure = 0 } = last ?? (await driveAtRate(next, best / 2, STEADY_SECONDS));
        last = undefined;
        return { figure };
      },
      close: async () => undefined,
      processes: processesOf(quittance),
    };
  },
};

async function kneeOf(next: () => Promise<unknown>, best: number, limitMs: number): Promise<number> {
  let knee = 0.5;
  for (const share of STEPS) {
    const { p99Ms = 0 } = await driveAtRate(next, best * share, STEADY_SECONDS);
    if (p99Ms > limitMs) break;
    knee = share;
  }
  return knee;
}

/** Pays out from accounts that have enough, in turn. */
export async function payoutsOf(quittance: Quittance): Promise<(turn: number) => Promise<void>> {
  const shops: Merchant[] = [];
  for (let i = 0; i < ACCOUNTS; i++) shops.push(await quittance.merchant());
  await fundAccounts(
    quittance,
    shops.map(({ id }) => id),
  );
  const order = { asset: 'ETH', amount: '0.0001', address: `0x${'ab'.repeat(20)}` };
  return async (turn) => {
    const answer = await (shops[turn % ACCOUNTS] as Merchant).post('/api/payouts', order);
    if (answer.status !== 201)
      throw new Error(`POST /api/payouts answers ${answer.status} ${JSON.stringify(answer.body)}`);
  };
}
