import { cpus } from 'node:os';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { type Comparison, compare, type Outcome } from './compare.ts';
import { type ExportOutcome, exportMonths } from './export-months.ts';
import { postInvoices } from './post-invoices.ts';
import { readThroughGateway } from './read-through-gateway.ts';
import { scanBlocks } from './scan-block.ts';
import { claimBacklog } from './webhook-claims.ts';
import { deliverBacklogs } from './webhook-deliveries.ts';

/**
 * npm run bench [scan | claims | webhooks | exports | api]: each path against its yardstick, in the same run on the same machine. Absolute figures
 * move from machine to machine; the ratios are the result.
 */
const FEW_ADDRESSES = 1_000;
const MANY_ADDRESSES = 1_000_000;
/** The most a block may take with many watched addresses, as a share of its time with few. */
const SCAN_RATIO_MAX = 1.5;
const EVENTS = 20_000;
const ENDPOINTS = 50;
const DELIVERY_ROUNDS = 5;
const DUE_DELIVERIES = 100_000;
const CLAIMED_ENDPOINTS = 1_000;
/** The least that deliveries should reach, as a share of a bare loop of POSTs. */
const DELIVERY_RATIO_MIN = 0.5;
const EXPORTED_ROWS = 100_000;
/** The most that the memory of a service may grow while a file passes. */
const EXPORT_GROWTH_MAX_MB = 40;
const chosen = process.argv.slice(2);
const isChosen = (part: 'scan' | 'claims' | 'webhooks' | 'exports' | 'api') =>
  chosen.length === 0 || chosen.includes(part);
const say = (line: string) => process.stdout.write(`${line}\n`);

/** The services look about as often as in production; tests make them look ten times as often. */
const settings = { invoices: { SCAN_EVERY_MS: '1000' }, payouts: { PAYOUTS_EVERY_MS: '1000' } };
/** A heap that cannot hold what passes: otherwise V8 collects garbage late, and the memory of a process tells little. */
const NODE_OPTIONS = '--max-semi-space-size=2 --max-old-space-size=100';
const smallHeaps = {
  gateway: { NODE_OPTIONS },
  invoices: { ...settings.invoices, NODE_OPTIONS },
  ledger: { NODE_OPTIONS },
  payouts: { ...settings.payouts, NODE_OPTIONS },
};

if (isChosen('scan')) await measureScanner();
if (isChosen('claims')) await measureClaims();
if (isChosen('webhooks')) await measureDeliveries();
if (isChosen('exports')) await withQuittance(measureExports, smallHeaps);
if (isChosen('api')) await withQuittance(compareApi, settings);

async function measureScanner(): Promise<void> {
  const [few, many] = [FEW_ADDRESSES, MANY_ADDRESSES].map((count) => count.toLocaleString('en'));
  say(`a block of 5,000 outputs with ${many} watched addresses against one with ${few} …`);
  const { ratio, fewMs, manyMs } = await scanBlocks(FEW_ADDRESSES, MANY_ADDRESSES);
  say(`  ratio ${ratio.toFixed(2)} (at most ${SCAN_RATIO_MAX}${ratio > SCAN_RATIO_MAX ? ', MISSED' : ''})`);
  say(`  ${many}: ${manyMs.toFixed(0)} ms a block\n  ${few}: ${fewMs.toFixed(0)} ms a block\n`);
}

async function measureClaims(): Promise<void> {
  const [due, endpoints] = [DUE_DELIVERIES, CLAIMED_ENDPOINTS].map((count) => count.toLocaleString('en'));
  say(`claims while ${due} deliveries to ${endpoints} endpoints are due, until all slots are taken …`);
  const outcome = await claimBacklog(DUE_DELIVERIES, CLAIMED_ENDPOINTS);
  say(`  median ${outcome.medianMs.toFixed(1)} ms, worst ${outcome.worstMs.toFixed(1)} ms a claim`);
  say(`  ${outcome.claimed} deliveries in ${outcome.claims} claims\n`);
}

async function measureDeliveries(): Promise<void> {
  say(
    `${EVENTS.toLocaleString('en')} webhooks to ${ENDPOINTS} endpoints against a bare loop of the same POSTs …`,
  );
  const { ratio, oursPerSecond, barePerSecond } = await deliverBacklogs(EVENTS, ENDPOINTS, DELIVERY_ROUNDS);
  const missed = ratio < DELIVERY_RATIO_MIN ? ', MISSED' : '';
  say(`  ratio ${ratio.toFixed(2)} (target ${DELIVERY_RATIO_MIN.toFixed(2)}${missed})`);
  say(`  ours   ${oursPerSecond.toFixed(0).padStart(6)}/s, claimed, signed, recorded, none missing, no gap`);
  say(`  theirs ${barePerSecond.toFixed(0).padStart(6)}/s\n`);
}

async function measureExports(quittance: Quittance): Promise<void> {
  const rows = EXPORTED_ROWS.toLocaleString('en');
  say(`${rows} invoices, payouts and balance transactions of an account as CSV through the gateway …`);
  const { exported, answered } = await exportMonths(quittance, EXPORTED_ROWS);
  for (const { list, rows, megabytes, seconds, ...memory } of exported) {
    say(`  ${list}: ${rows} rows, ${megabytes.toFixed(1)} MB in ${seconds.toFixed(1)} s`);
    for (const [name, { before, most }] of Object.entries(memory) as [string, ExportOutcome['service']][]) {
      const missed = most - before > EXPORT_GROWTH_MAX_MB ? ', MISSED' : '';
      const growth = `${(most - before).toFixed(0)} MB more (at most ${EXPORT_GROWTH_MAX_MB}${missed})`;
      say(`    ${name.padEnd(7)} ${before.toFixed(0)} MB before, ${most.toFixed(0)} MB at most: ${growth}`);
    }
  }
  for (const { path, ms } of answered) say(`  ${ms.toFixed(0).padStart(5)} ms  GET ${path}`);
  say('');
}

async function withQuittance(
  measure: (quittance: Quittance) => Promise<void>,
  settings: Record<string, Record<string, string>>,
): Promise<void> {
  const quittance = await startQuittance({
    settings,
    redis: true,
    durable: true,
    confirmations: 1,
    quiet: true,
    checkBooks: false,
    checkAnswers: false,
  });
  try {
    await measure(quittance);
  } finally {
    await quittance.stop();
  }
}

async function compareApi(quittance: Quittance): Promise<void> {
  const shop = await quittance.merchant();
  const { id } = (await shop.post('/api/invoices', { asset: 'ETH', amount: 25 })).body.data;
  const redisUrl = quittance.stack.engines.redis?.url ?? '';
  const outcomes: Outcome[] = [];
  const run = async (comparison: Comparison & { end(): Promise<void> }) => {
    say(`${comparison.name} against ${comparison.yardstick} …`);
    outcomes.push(await compare(comparison));
    await comparison.end();
  };

  await run(await postInvoices(shop, quittance.stack.adminUrl));
  const invoice = {
    name: 'GET /api/invoices/{id} through the gateway',
    path: `/api/invoices/${id}`,
    target: 0.6,
  };
  await run(await readThroughGateway({ ...invoice, shop, redisUrl }));
  const balances = { name: 'GET /api/balances through the gateway', path: '/api/balances', target: 0.5 };
  await run(await readThroughGateway({ ...balances, shop, redisUrl }));

  say(`\n${cpus().length} cores, Node ${process.version}; medians of the rounds\n`);
  for (const { name, yardstick, target, ratio, ours, theirs } of outcomes) {
    say(`${name}\n  against ${yardstick}`);
    say(`  ratio ${ratio.toFixed(2)} (target ${target.toFixed(2)}${ratio < target ? ', MISSED' : ''})`);
    say(`  ours   ${row(ours)}\n  theirs ${row(theirs)}\n`);
  }
}

function row({ perSecond, p50Ms, p99Ms }: Outcome['ours']): string {
  return `${perSecond.toFixed(0).padStart(6)}/s  p50 ${p50Ms.toFixed(1)} ms  p99 ${p99Ms.toFixed(1)} ms`;
}
