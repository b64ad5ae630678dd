/**
 * A process that starts every engine, writes their pids to stdout and waits to be killed.
 * usage: node hold-engines.ts FOLDER
 */
import path from 'node:path';
import { startAnvil } from '../src/anvil.ts';
import { startNats } from '../src/nats.ts';
import { startPostgres } from '../src/postgres.ts';
import { startRedis } from '../src/redis.ts';

const folder = process.argv[2] ?? '';
const engines = await Promise.all([
  startPostgres({ dataDir: path.join(folder, 'postgres'), port: 0, settings: { fsync: 'off' } }),
  startNats({ dataDir: path.join(folder, 'nats'), port: 0 }),
  startRedis({ port: 0 }),
  startAnvil({ port: 0, statePath: path.join(folder, 'anvil.json') }),
]);
engines[2].pause();
process.stdout.write(`${JSON.stringify(engines.map((engine) => engine.pid))}\n`);
