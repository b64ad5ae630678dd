import { type IncomingMessage, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { sleep } from '@quittance/shared/clock';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import type { Benchmark, Sample } from '../benchmark.ts';
import { median } from '../drive.ts';
import { residentMegabytes, watchProcesses } from '../processes.ts';
import { storeInvoices, storePayouts, storeTransactions } from './stored-months.ts';

const ROWS = 100_000;
/** The client reads one piece, and nothing more for so long. */
const SLOW_MS = 3_000;
const READS = 5;
/** A heap that cannot hold what passes: otherwise V8 collects garbage late, and the memory of a process tells little. */
const smallHeap = { NODE_OPTIONS: '--max-semi-space-size=2 --max-old-space-size=100' };
const lists = [
  { list: 'invoices', service: 'invoices' },
  { list: 'payouts', service: 'payouts' },
  { list: 'balance-transactions', service: 'ledger' },
] as const;

export const exports: Benchmark = {
  name: 'exports',
  what: '100,000 invoices, payouts and balance transactions of an account as CSV through the gateway to a slow client: the most memory of the gateway and the service, added up over the three files. Also what the statement and the transactions of that month take to read.',
  yardstick: 'their memory before',
  target: { atMost: 1.25 },
  unit: 'MB',
  rounds: 1,
  warmUp: false,
  async setUp() {
    const quittance = await startQuittance({
      settings: { gateway: smallHeap, invoices: smallHeap, ledger: smallHeap, payouts: smallHeap },
      ...{ chains: [], redis: true, durable: true, quiet: true, checkBooks: false, checkAnswers: false },
    });
    const shop = await quittance.merchant();
    await storeInvoices(quittance, shop, ROWS);
    await storePayouts(quittance, shop, ROWS);
    await storeTransactions(quittance, shop, ROWS);
    const { services } = quittance.stack;
    const pidsOf = (service: (typeof lists)[number]['service']) => ({
      service: services[service].pid,
      gateway: services.gateway.pid,
    });
    const before = lists.reduce((sum, { service }) => {
      const { service: one = 0, gateway = 0 } = pidsOf(service);
      return sum + residentMegabytes(one) + residentMegabytes(gateway);
    }, 0);
    return {
      async ours(): Promise<Sample> {
        let most = 0;
        const more: Record<string, number> = {};
        for (const { list, service } of lists) {
          const watched = watchProcesses(pidsOf(service));
          more[`${list} s`] = await exportOnce(quittance, shop, list);
          const { megabytes } = watched.end();
          most += Object.values(megabytes).reduce((sum, one) => sum + one, 0);
        }
        for (const path of statementPaths(new Date())) more[`${path} ms`] = await answerTime(shop, path);
        return { figure: most, more };
      },
      theirs: async () => ({ figure: before }),
      close: quittance.stop,
    };
  },
};

const statementPaths = (now: Date): string[] => [
  `/api/statements?month=${now.toISOString().slice(0, 7)}&asset=ETH`,
  '/api/balance-transactions?limit=100',
  '/api/balance-transactions?limit=100&type=refund',
  '/api/balance-transactions?limit=100&type=payout_failed',
];

/** How long one answer takes, in milliseconds: the median of a few. */
async function answerTime(shop: Merchant, path: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < READS; i++) {
    const begun = performance.now();
    const { status } = await shop.get(path);
    if (status !== 200) throw new Error(`${path} answers ${status}`);
    times.push(performance.now() - begun);
  }
  return median(times);
}

/** Seconds that a file takes, without the time in which the client reads nothing. */
async function exportOnce({ url }: Quittance, { token }: Merchant, list: string): Promise<number> {
  const begun = performance.now();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    request(`${url}/api/${list}?format=csv`, { headers, agent: false }, resolve).on('error', reject).end();
  });
  if (answer.statusCode !== 200) throw new Error(`the export of ${list} answers ${answer.statusCode}`);
  let [bytes, lines] = [0, 0];
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (bytes === 0) await sleep(SLOW_MS);
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  if (lines - 1 < ROWS) throw new Error(`the export of ${list} has ${lines - 1} rows`);
  return (performance.now() - begun - SLOW_MS) / 1_000;
}
