import { sleep } from '@quittance/shared/clock';
import type { Service } from '@quittance/shared/events';
import { type Between, putBetween } from '@quittance/testkit/between';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import type { Benchmark, Sample } from '../benchmark.ts';
import { type CallCounter, countCalls } from '../count-calls.ts';

const SECONDS = 60;
const BLOCK_SECONDS = 12;
const HOUR_SECONDS = 3_600;
const KILO = 1_000;
const WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 200;
const AMOUNT = { BTC: '0.0001', ETH: '0.001', SOL: '0.01' } as const;
const CHAINS = { bitcoin: 'BTC', ethereum: 'ETH', solana: 'SOL' } as const;
type ChainName = keyof typeof CHAINS;
const chainNames = Object.keys(CHAINS) as ChainName[];

/** Three million credits a day, of which a block costs 80: what Infura gives for nothing. */
const FREE_CALLS_AN_HOUR = 3_000_000 / 80 / 24;

export const chainTraffic: Benchmark = {
  name: 'chain-traffic',
  what: 'Calls that a node of Ethereum gets in an hour in which nobody pays, with a block every 12 s and the intervals of a new installation; each call of a batch counts. Under `more` the same of all chains, with their bytes, and what a payout takes besides. A payment takes nothing: blocks are read whoever is paid.',
  yardstick: 'calls of eth_getBlockByNumber that the free plan of Infura has in an hour',
  target: { atMost: 1 },
  unit: 'calls/h',
  rounds: 1,
  warmUp: false,
  async setUp() {
    const quittance = await startQuittance({
      settings: {
        invoices: { SCAN_EVERY_MS: '1000', SCAN_IDLE_EVERY_MS: '5000' },
        payouts: { PAYOUTS_EVERY_MS: '1000' },
        auditor: { CHECK_EVERY_MS: '60000', CHAINS_EVERY_MS: '60000' },
      },
      auditor: true,
      quiet: true,
      confirmations: 1,
      solanaSlotMs: 400,
      checkBooks: false,
      checkAnswers: false,
    });
    const counters = await countEach(quittance);
    return {
      ours: () => measure(quittance, counters),
      theirs: async () => ({ figure: FREE_CALLS_AN_HOUR }),
      async close() {
        await quittance.stop();
        for (const counter of counters) await counter.close();
      },
    };
  },
};

/** Starts the services that ask nodes again, each with its nodes behind what counts. */
async function countEach(quittance: Quittance): Promise<Counters> {
  const { stack } = quittance;
  const counters: Counters = [];
  const between: Between[] = [];
  for (const service of Object.keys(stack.services) as Service[]) {
    for (const chain of chainNames) {
      const setting = `${chain.toUpperCase()}_RPC_URL`;
      const node = stack.settingsOf(service)[setting];
      if (node === undefined || node === '') continue;
      const counter = await countCalls(node);
      counters.push({ chain, ...counter });
      between.push({ service, setting, through: () => counter.url });
    }
  }
  await putBetween(quittance, between);
  return counters;
}

type Counters = (CallCounter & { chain: ChainName })[];
type Counts = Record<ChainName, { calls: number; bytes: number }>;

async function measure(quittance: Quittance, counters: Counters): Promise<Sample> {
  const shop = await quittance.merchant();
  const idle = await countFor(quittance, counters);
  await sell(quittance, shop);
  const paidOut = await besides(counters, idle, () => payOut(quittance, shop));
  const more: Record<string, number> = {};
  for (const chain of chainNames) {
    more[`${chain} calls/h`] = idle[chain].calls * HOUR_SECONDS;
    more[`${chain} kB/h`] = (idle[chain].bytes * HOUR_SECONDS) / KILO;
    more[`${chain} calls of a payout`] = paidOut[chain].calls;
  }
  return { figure: idle.ethereum.calls * HOUR_SECONDS, more };
}

const customerOf = ({ bitcoin, ethereum, solana }: Quittance, asset: keyof typeof AMOUNT) =>
  ({ BTC: bitcoin, ETH: ethereum, SOL: solana })[asset];

/** One invoice of each asset, so that there is something to pay out. */
async function sell(quittance: Quittance, shop: Merchant): Promise<void> {
  const ids: string[] = [];
  for (const asset of Object.values(CHAINS)) {
    const { data } = (await shop.post('/api/invoices', { asset, amount: 50 })).body;
    await customerOf(quittance, asset).pay(asset, data.address.address, data.amount);
    ids.push(data.id);
  }
  await until(quittance, async () => {
    for (const id of ids) if ((await shop.get(`/api/invoices/${id}`)).body.status !== 'paid') return false;
    return true;
  });
}

async function payOut(quittance: Quittance, shop: Merchant): Promise<void> {
  const ids: string[] = [];
  for (const asset of Object.values(CHAINS)) {
    const address = await customerOf(quittance, asset).newAddress();
    const { status, body } = await shop.post('/api/payouts', { asset, amount: AMOUNT[asset], address });
    if (status !== 201) throw new Error(`POST /api/payouts answers ${status} ${JSON.stringify(body)}`);
    ids.push(body.data.id);
  }
  await until(quittance, async () => {
    for (const id of ids) if ((await shop.get(`/api/payouts/${id}`)).body.status !== 'mined') return false;
    return true;
  });
}

/** Blocks of Ethereum come at their pace, and of Bitcoin when something waits for one. */
async function until(quittance: Quittance, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  let mined = performance.now();
  await quittance.ethereum.mine(1);
  await quittance.bitcoin.mine(1);
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('the chains did not come as far');
    if (performance.now() - mined > BLOCK_SECONDS * KILO) {
      await quittance.ethereum.mine(1);
      await quittance.bitcoin.mine(1);
      mined = performance.now();
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** Calls and bytes of a second in which nothing happens. */
async function countFor(quittance: Quittance, counters: Counters): Promise<Counts> {
  const before = countsOf(counters);
  for (let second = 0; second < SECONDS; second += BLOCK_SECONDS) {
    await quittance.ethereum.mine(1);
    await sleep(BLOCK_SECONDS * KILO);
  }
  return difference(countsOf(counters), before, 1 / SECONDS);
}

/** What is counted while something happens, without what would have been counted anyway. */
async function besides(counters: Counters, idle: Counts, happens: () => Promise<void>): Promise<Counts> {
  const before = countsOf(counters);
  const began = performance.now();
  await happens();
  const seconds = (performance.now() - began) / KILO;
  const all = difference(countsOf(counters), before);
  for (const chain of chainNames) all[chain].calls -= idle[chain].calls * seconds;
  return all;
}

const countsOf = (counters: Counters): Counts => {
  const counts = eachChain(() => ({ calls: 0, bytes: 0 }));
  for (const { chain, traffic } of counters) {
    counts[chain].bytes += traffic.bytes;
    for (const calls of traffic.calls.values()) counts[chain].calls += calls;
  }
  return counts;
};

const difference = (after: Counts, before: Counts, times = 1): Counts =>
  eachChain((chain) => ({
    calls: (after[chain].calls - before[chain].calls) * times,
    bytes: (after[chain].bytes - before[chain].bytes) * times,
  }));

const eachChain = <T>(of: (chain: ChainName) => T): Record<ChainName, T> =>
  Object.fromEntries(chainNames.map((chain) => [chain, of(chain)])) as Record<ChainName, T>;
