import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freePort } from '@quittance/engines/free-port';
import { chains } from '@quittance/shared/assets';
import { sleep } from '@quittance/shared/clock';
import { reason } from '@quittance/shared/logger';
import { listeningServices } from '@quittance/stack/ports';
import { inColumns } from '@quittance/testkit/in-columns';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { z } from 'zod';
import { startLoad } from '../../test/faults/load.ts';
import { commit, machine } from '../machine.ts';
import { type Trend, trends } from './flatness.ts';
import { type Sample, sample, type Watched } from './samples.ts';

/**
 * npm run soak [-- --minutes N]: all of Quittance under a mixed load of all chains, an hour when not said otherwise. In the end
 * memory, descriptors, the lag of event loops and the size of tables have to be as in the second quarter of that time, and every
 * answer that a client was given has to be true. A line is appended to bench/results/soak.jsonl.
 */
const SAMPLE_EVERY_MS = 15_000;
const MINUTE_MS = 60_000;
const LOAD = { clients: 3, pauseMs: 3_000, blockEveryMs: 1_000, assets: ['ETH', 'BTC', 'SOL'] } as const;
const kinds = {
  megabytes: 'MB',
  descriptors: 'descriptors',
  lagMs: 'ms of lag',
  bytes: 'bytes a row',
} as const;
/** They keep their whole chain in memory, of which the soak makes a block each second. It is shown, and not judged. */
const nodes: readonly string[] = chains;
const RESULTS = fileURLToPath(new URL('../results/soak.jsonl', import.meta.url));

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
const minutes = z.coerce.number().positive().parse(values.minutes);

const metricsPort = await freePort();
const quittance = await startQuittance({
  ...{ redis: true, auditor: true, durable: true, quiet: true, solanaSlotMs: 400 },
  settings: {
    gateway: { METRICS_PORT: String(metricsPort) },
    invoices: { SCAN_EVERY_MS: '1000' },
    payouts: { PAYOUTS_EVERY_MS: '1000' },
  },
});
try {
  process.exitCode = (await soak(quittance)) ? 0 : 1;
} catch (error) {
  // Now, since what is found at the stop may be a consequence of it.
  say(`the soak has failed: ${reason(error)}`);
  throw error;
} finally {
  await quittance.stop();
}

async function soak(stack: Quittance): Promise<boolean> {
  const load = await startLoad(stack, LOAD);
  say(`${minutes} minutes of load …`);
  const samples: Sample[] = [];
  const watched = watchedOf(stack);
  const until = performance.now() + minutes * MINUTE_MS;
  while (performance.now() < until) {
    await sleep(SAMPLE_EVERY_MS);
    const one = await sample(watched).catch((error: unknown) => say(`a sample is missing: ${reason(error)}`));
    if (one !== undefined) samples.push(one);
  }
  const counts = load.counts();
  const found = Object.entries(kinds).map(([kind, unit]) => ({
    unit,
    trends: trends(kind as keyof Sample, samples),
  }));
  for (const { unit, trends: all } of found) say(tableOf(unit, all));
  const broken = await load.finish().catch((error: unknown) => [reason(error)]);
  say(`${counts.sales} sales, ${counts.accepted} payouts; not true: ${broken.join('; ') || 'nothing'}`);
  const grown = found.flatMap(({ unit, trends: all }) =>
    all.filter(({ of, isFlat }) => !isFlat && !nodes.includes(of)).map((trend) => ({ unit, ...trend })),
  );
  const line = {
    at: new Date().toISOString(),
    commit: commit(),
    machine: machine(),
    minutes,
    counts,
    broken,
  };
  const shown = Object.fromEntries(found.slice(0, -1).map(({ unit, trends: all }) => [unit, all]));
  appendFileSync(RESULTS, `${JSON.stringify({ ...line, grown, ...shown })}\n`);
  for (const { unit, of, before, after } of grown) say(`GROWN: ${of} from ${before} to ${after} ${unit}`);
  return grown.length === 0 && broken.length === 0;
}

function watchedOf({ stack, db }: Quittance): Watched {
  const { postgres: _children, ...engines } = stack.engines;
  const processes = Object.entries({ ...stack.services, ...engines }).map(([name, of]) => [name, of?.pid]);
  const ports = listeningServices.map((name) => [name, name === 'gateway' ? metricsPort : stack.ports[name]]);
  return {
    processes: Object.fromEntries(processes),
    metrics: Object.fromEntries(ports.map(([name, port]) => [name, `http://127.0.0.1:${port}/metrics`])),
    db,
  };
}

/** Tables that have not changed by a tenth are left out. */
function tableOf(unit: string, all: readonly Trend[]): string {
  const rows = all
    .filter(({ before, after }) => unit !== kinds.bytes || Math.abs(after - before) > before / 10)
    .map(({ of, before, after, isFlat }) => [of, before.toFixed(1), after.toFixed(1), isFlat ? '' : 'GROWN']);
  return inColumns([[unit, 'second quarter', 'last quarter', ''], ...rows], 1).join('\n');
}
