import type { Merchant } from '@quittance/testkit/merchant';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import type { Benchmark, Sample } from '../benchmark.ts';
import { drive } from '../drive.ts';
import { maintain, storeEvents, storeInvoices, storeTransactions, withoutIndexes } from './stored-months.ts';

/** BENCH_ROWS=10000000 for the size that is claimed: filling it takes an hour, and each transaction has two entries. */
// eslint-disable-next-line no-restricted-syntax -- a count
const ROWS = Number(process.env['BENCH_ROWS'] ?? 150_000);
const FEW = 10_000;
const EVENTS_OF_AN_INVOICE = 5;
const LEDGER = ['transfers', 'entries', 'deposits', 'holds'].map((table) => `ledger.${table}`);
const CLIENTS = 4;
const SECONDS = 1.5;

export const growth: Benchmark = {
  name: 'growth',
  what: `An invoice, a look at it, a page of the list, the balances, a page of balance transactions and one of events, p50 of each added up, in an account with many invoices and transactions, and five events of each (150,000; BENCH_ROWS=10000000 for the size that is claimed).`,
  yardstick: 'the same with 10,000',
  target: { atMost: 1.3 },
  unit: 'ms',
  rounds: 5,
  async setUp() {
    const [large, small] = await Promise.all([openFilled(ROWS), openFilled(FEW)]);
    return {
      ours: () => paths(large.shop),
      theirs: () => paths(small.shop),
      async close() {
        await large.quittance.stop();
        await small.quittance.stop();
      },
    };
  },
};

async function openFilled(rows: number): Promise<{ quittance: Quittance; shop: Merchant }> {
  const quittance = await startQuittance({
    ...{ chains: [], redis: true, durable: true, quiet: true, checkBooks: false, checkAnswers: false },
  });
  const shop = await quittance.merchant();
  // Filling writes each page of the indexes once after every checkpoint: there are few of them, and one vacuum, at the end.
  await maintain(quittance, `alter system set max_wal_size = '8GB'`);
  await maintain(quittance, 'alter system set autovacuum = off');
  await maintain(quittance, 'select pg_reload_conf()');
  await Promise.all([
    // With their indexes: the service looks for those that expire, each second.
    storeInvoices(quittance, shop, rows),
    withoutIndexes(quittance, LEDGER, () => storeTransactions(quittance, shop, rows)),
    withoutIndexes(quittance, ['webhooks.events'], () =>
      storeEvents(quittance, shop, EVENTS_OF_AN_INVOICE * rows),
    ),
  ]);
  await maintain(quittance, 'vacuum analyze');
  await maintain(quittance, 'checkpoint');
  return { quittance, shop };
}

async function paths(shop: Merchant): Promise<Sample> {
  const made = await shop.post('/api/invoices', { asset: 'ETH', amount: 25 });
  const asked: Record<string, () => ReturnType<Merchant['get']>> = {
    POST: () => shop.post('/api/invoices', { asset: 'ETH', amount: 25 }),
    GET: () => shop.get(`/api/invoices/${made.body.data.id}`),
    list: () => shop.get('/api/invoices?perPage=25'),
    balances: () => shop.get('/api/balances'),
    transactions: () => shop.get('/api/balance-transactions?limit=25'),
    events: () => shop.get('/api/events?limit=25'),
  };
  const more: Record<string, number> = {};
  for (const [name, ask] of Object.entries(asked)) {
    const once = async () => {
      const { status } = await ask();
      if (status >= 400) throw new Error(`${name} is answered ${status}`);
    };
    more[`${name} ms`] = (await drive(once, CLIENTS, SECONDS)).p50Ms ?? 0;
  }
  return { figure: Object.values(more).reduce((sum, ms) => sum + ms, 0), more };
}
