import type { Benchmark } from './benchmark.ts';
import { payoutsAndSimplest } from './peers/simple-payouts.ts';
import { webhooksAndBullmq, webhooksAndPgBoss } from './peers/webhook-workers.ts';
import { chainTraffic } from './targets/chain-traffic.ts';
import { commitToEffect } from './targets/commit-to-effect.ts';
import { creditsDistinct, creditsHot } from './targets/credits.ts';
import { exports } from './targets/export-months.ts';
import { growth } from './targets/growth.ts';
import { holdsDistinct, holdsHot } from './targets/holds.ts';
import { deriveAddresses, signTransfers } from './targets/keys.ts';
import { idleMemory, loadedMemory } from './targets/memory.ts';
import { networkedInvoices, networkedPayouts, networkedReads } from './targets/networked-database.ts';
import { installed, startSandbox } from './targets/npm-start.ts';
import { payoutLatency, postPayouts } from './targets/payouts.ts';
import { postInvoices } from './targets/post-invoices.ts';
import { onePosting } from './targets/posting.ts';
import { pruning } from './targets/pruning.ts';
import { readBalances, readInvoice } from './targets/reads.ts';
import { cpuOfSale } from './targets/sale.ts';
import { scanBlock, scanPayments } from './targets/scan-block.ts';
import { startServices } from './targets/start.ts';
import { walOfInvoices } from './targets/wal.ts';
import { claims } from './targets/webhook-claims.ts';
import { webhookDeliveries } from './targets/webhook-deliveries.ts';

/** All of them, in the order in which they run. Those that share a stack stand together, what restarts its services last. */
export const benchmarks: readonly Benchmark[] = [
  deriveAddresses,
  signTransfers,
  installed,
  scanBlock,
  scanPayments,
  claims,
  webhookDeliveries,
  webhooksAndBullmq,
  webhooksAndPgBoss,
  exports,
  growth,
  startSandbox,
  chainTraffic,
  cpuOfSale,
  postInvoices,
  readInvoice,
  readBalances,
  onePosting,
  holdsDistinct,
  holdsHot,
  postPayouts,
  payoutLatency,
  payoutsAndSimplest,
  walOfInvoices,
  pruning,
  loadedMemory,
  creditsDistinct,
  creditsHot,
  commitToEffect,
  networkedInvoices,
  networkedReads,
  networkedPayouts,
  startServices,
  idleMemory,
];
