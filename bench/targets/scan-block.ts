import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@quittance/engines/postgres';
import type { Benchmark, Sample } from '../benchmark.ts';
import { startStub } from '../stub.ts';
import { openScanner, PAID, type ScanFixture } from './scan-fixture.ts';

const FEW = 1_000;
const MANY = 1_000_000;
const OUTPUTS = 5_000;
const OURS = 20;

export const scanBlock: Benchmark = {
  name: 'scan',
  what: 'A block of 5,000 outputs, all of what a scanner does for it from asking the node to the commit, with 1,000,000 watched addresses.',
  yardstick: 'the same block with 1,000 watched addresses',
  target: { atMost: 1.5 },
  unit: 'ms',
  rounds: 10,
  async setUp() {
    const dataDir = mkdtempSync(join(tmpdir(), 'quittance-bench-'));
    // A million rows are filled in before: the commits of both sides do not wait for the disk.
    const settings = { fsync: 'off', max_wal_size: '8GB' };
    const postgres = await startPostgres({ dataDir, port: 0, settings });
    const node = await startStub('bitcoin-node.ts', [OUTPUTS, OURS, PAID].map(String));
    const few = await openScanner(postgres.url, node.url, FEW);
    const many = await openScanner(postgres.url, node.url, MANY);
    /** Which side has taken the newest block: the node makes one when a side would take it twice. */
    let taken: ScanFixture[] = [few, many];
    const take = async (one: ScanFixture): Promise<Sample> => {
      if (taken.includes(one)) {
        const body = JSON.stringify({ id: 0, method: 'grow', params: [] });
        await (await fetch(node.url, { method: 'POST', body })).text();
        taken = [];
      }
      taken.push(one);
      return { figure: await one.take(), operations: 1 };
    };
    return {
      ours: () => take(many),
      theirs: () => take(few),
      async close() {
        for (const one of [few, many]) await one.stop();
        await node.engine.stop();
        await postgres.destroy();
      },
      processes: { invoices: process.pid, postgres: postgres.pid },
    };
  },
};
