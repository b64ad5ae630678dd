import { setTimeout as pause } from 'node:timers/promises';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Benchmark, Sample, Sides } from '../benchmark.ts';
import { drive } from '../drive.ts';
import type { Lab } from '../lab.ts';
import { residentMegabytes } from '../processes.ts';
import { startStub } from '../stub.ts';
import { fundAccounts } from '../yardsticks/ledger-accounts.ts';

const SETTLED_AFTER_MS = 10_000;
const LOADED_SECONDS = 15;
const CLIENTS = 16;
const shared = {
  yardstick: 'a bare express process',
  unit: 'MB',
  rounds: 1,
  warmUp: false,
};

export const idleMemory: Benchmark = {
  name: 'memory-idle',
  what: 'Resident memory of the largest service ten seconds after its start. Each service stands under `more`.',
  target: { atMost: 1.8 },
  ...shared,
  setUp: (lab) =>
    memoryOf(lab, async (quittance) => {
      await Promise.all(Object.values(quittance.stack.services).map((service) => service.restart()));
      await pause(SETTLED_AFTER_MS);
    }),
};

export const loadedMemory: Benchmark = {
  name: 'memory-loaded',
  what: 'Resident memory of the largest service after 15 s of invoices, payouts and reads by 16 clients.',
  target: { atMost: 2.9 },
  ...shared,
  setUp: (lab) => memoryOf(lab, load),
};

async function memoryOf(lab: Lab, prepare: (quittance: Quittance) => Promise<void>): Promise<Sides> {
  const quittance = await lab.quittance();
  const bare = await startStub('bare-express.mjs');
  return {
    async ours(): Promise<Sample> {
      await prepare(quittance);
      const each = Object.entries(quittance.stack.services).map(
        ([name, { pid }]) => [name, pid === undefined ? 0 : residentMegabytes(pid)] as const,
      );
      return { figure: Math.max(...each.map(([, megabytes]) => megabytes)), more: Object.fromEntries(each) };
    },
    theirs: async () => ({ figure: residentMegabytes(bare.engine.pid ?? 0) }),
    close: () => bare.engine.stop(),
  };
}

/** What merchants do in turn: an invoice, a look at it, at the balances, a payout. */
async function load(quittance: Quittance): Promise<void> {
  const shop = await quittance.merchant();
  await fundAccounts(quittance, [shop.id]);
  const payout = { asset: 'ETH', amount: '0.0001', address: `0x${'cd'.repeat(20)}` };
  const once = async () => {
    const made = await shop.post('/api/invoices', { asset: 'ETH', amount: 25 });
    const answers = [
      await shop.get(`/api/invoices/${made.body.data.id}`),
      await shop.get('/api/balances'),
      await shop.post('/api/payouts', payout),
    ];
    const failed = [made, ...answers].find(({ status }) => status >= 400);
    if (failed !== undefined) throw new Error(`the load is answered ${failed.status}`);
  };
  await drive(once, CLIENTS, LOADED_SECONDS);
}
