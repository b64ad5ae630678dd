import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@quittance/engines/postgres';
import type { Benchmark, Sample } from '../benchmark.ts';
import { startStub } from '../stub.ts';
import { openScanner, type ScanFixture } from './scan-fixture.ts';

const FEW = 1_000;
const MANY = 1_000_000;
const OUTPUTS = 5_000;
const OURS = 20;
const HALF = OUTPUTS / 2;
/** Each is paid once in the benchmark that pays half of a block. */
const OPEN = 100_000;
const WATCHED = 200_000;
const A_TENTH_PER_MS = 1;

export const scanBlock: Benchmark = {
  name: 'scan',
  what: 'A block of 5,000 outputs, all of what a scanner does for it from asking the node to the commit, with 1,000,000 watched addresses.',
  yardstick: 'the same block with 1,000 watched addresses',
  target: { atMost: 1.5 },
  unit: 'ms',
  rounds: 10,
  async setUp() {
    const { open, grow, close, postgres } = await openChain({ ours: OURS, paid: FEW });
    const few = await open(FEW);
    const many = await open(MANY);
    /** Which side has taken the newest block: the node makes one when a side would take it twice. */
    let taken: ScanFixture[] = [few, many];
    const take = async (one: ScanFixture): Promise<Sample> => {
      if (taken.includes(one)) {
        await grow();
        taken = [];
      }
      taken.push(one);
      return { figure: await one.take(), operations: 1 };
    };
    return {
      ours: () => take(many),
      theirs: () => take(few),
      close,
      processes: { invoices: process.pid, postgres: postgres.pid },
    };
  },
};

export const scanPayments: Benchmark = {
  name: 'scan-payments',
  what: 'A block with 2,500 payments to open invoices among its 5,000 outputs, until they are recorded and those of the block before are settled, with 200,000 watched addresses.',
  yardstick:
    'the 2.5 s in which so many payments come at 1,000 a second, a tenth of what docs/sizing.md has a path to',
  target: { atMost: 1 },
  unit: 'ms',
  rounds: 8,
  async setUp() {
    const { open, grow, close, postgres } = await openChain({ ours: HALF, paid: OPEN });
    const scanner = await open(WATCHED);
    const take = async (): Promise<number> => {
      await grow();
      const begun = performance.now();
      await scanner.take();
      return performance.now() - begun;
    };
    // Each block settles those of the one before it.
    await take();
    await scanner.analyze();
    return {
      ours: async () => ({ figure: await take(), operations: HALF }),
      theirs: async () => ({ figure: HALF / A_TENTH_PER_MS }),
      close,
      processes: { invoices: process.pid, postgres: postgres.pid },
    };
  },
};

/** A chain whose blocks pay `ours` of `paid` addresses, and scanners of it, each with a database of its own. */
async function openChain({ ours, paid }: { ours: number; paid: number }) {
  const dataDir = mkdtempSync(join(tmpdir(), 'quittance-bench-'));
  // A million rows are filled in before: the commits of both sides do not wait for the disk.
  const settings = { fsync: 'off', max_wal_size: '8GB' };
  const postgres = await startPostgres({ dataDir, port: 0, settings });
  const node = await startStub('bitcoin-node.ts', [OUTPUTS, ours, paid].map(String));
  const scanners: ScanFixture[] = [];
  return {
    postgres,
    async open(addresses: number): Promise<ScanFixture> {
      const scanner = await openScanner(postgres.url, node.url, { addresses, paid });
      scanners.push(scanner);
      return scanner;
    },
    async grow(): Promise<void> {
      const body = JSON.stringify({ id: 0, method: 'grow', params: [] });
      await (await fetch(node.url, { method: 'POST', body })).text();
    },
    async close(): Promise<void> {
      for (const one of scanners) await one.stop();
      await node.engine.stop();
      await postgres.destroy();
    },
  };
}
