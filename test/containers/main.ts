import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { reason } from '@quittance/shared/logger';
import { buildMissingImages, CONTAINER_NAMES, imageNames } from '@quittance/stack/container-images';
import { shell } from '@quittance/stack/shell';
import { type Counts, closingLine } from '../../tools/closing-line.ts';
import { trackedFiles } from '../../tools/tracked-files.ts';
import { bringUpEngine, type DockerEngine, NoEngine } from './engine.ts';
import { buildStandIns, standIns } from './stand-ins.ts';

/**
 * npm run test:containers [-- all | few | integration [suite …] | shop | compose [suite …] | suite …]
 *
 * Runs suites on containers, on this machine's Docker engine or, where there is none and this is root on a Debian, on
 * Debian's, which is started for it and removed with all it had. `integration`: the integration suites; `shop`: what
 * testers of a shop are given, of images of this checkout; and `compose`: these images, and docker-compose.yml with them. `all`,
 * which is what is run without a word, is these three; `few` are some of the suites, `shop`, and `compose` without its rolling restart. A suite is what jest takes
 * for one. One run at a time on an engine. Ends with what ran and `N passed, N failed`, as npm test does.
 */
const root = join(import.meta.dirname, '../..');

/** Those that between them use what the engines are used for: locks, streams, durables, buckets, counters; and one of each service. */
const FEW = [
  ...['bus', 'consumer', 'db', 'lease', 'messages'].map((name) => `packages/shared/test/${name}`),
  ...[
    'gateway/test/limits',
    'invoices/test/state-table',
    'payouts/test/payout-requests',
    'ledger/test/holds',
  ],
  ...['webhooks/test/endpoint-queues', 'auditor/test/audit'],
];

/** Images of a run's own: those that an operator has made on the same engine are neither tested nor touched. */
const [PREFIX, TAG] = ['quittance', 'under-test'];

const suites = trackedFiles().filter((path) => path.endsWith('.test.ts'));

type Part = {
  name: string;
  args: string[];
  env: NodeJS.ProcessEnv;
};
type Outcome = Counts & { name: string; seconds: number };

const say = (line: string) => process.stdout.write(`containers: ${line}\n`);

/** What runs one after the other; each is one part, or some that run side by side. */
function groupsOf(asked: readonly string[]): Part[][] {
  const [first = 'all', ...more] = asked;
  // The containers of testcontainers' own that clean up need an image that cannot always be had; this run cleans up.
  const noCleaner = { TESTCONTAINERS_RYUK_DISABLED: 'true' };
  const engines = { TEST_ENGINES: 'containers', ...noCleaner };
  const integration = (suites: readonly string[]): Part => ({
    name: 'integration suites, engines by testcontainers',
    args: ['integration', ...suites],
    env: engines,
  });
  const shop: Part = {
    name: 'a shop’s own tests, on docker-compose.yml',
    args: ['e2e', 'test/e2e/example-shop'],
    env: { QUITTANCE_ENGINES: 'containers', ...noCleaner },
  };
  const compose = (...suites: string[]): Part => ({
    name: 'the engines’ images, those of this checkout, the sandbox’s by itself, and docker-compose.yml with them',
    args: ['containers', ...suites.map((name) => `test/containers/${name}`)],
    env: noCleaner,
  });
  // The tests of a shop wait for a minute, until an invoice ends.
  if (first === 'all') return [[integration([])], [shop, compose()]];
  if (first === 'few') {
    // A suite that was renamed would be left out in silence.
    const missing = FEW.filter((name) => !suites.some((path) => path.includes(name)));
    if (missing.length > 0) throw new Error(`no suite has these names any more: ${missing.join(', ')}`);
    return [[integration(FEW)], [shop, compose('images', 'sandbox-image', 'compose', 'stack-engines')]];
  }
  if (first === 'integration') return [[integration(more)]];
  if (first === 'shop') return [[shop]];
  if (first === 'compose') return [[compose(...more)]];
  return [[integration(asked)]];
}

/** In which the images are built that the parts run. */
const environmentOn = (engine: DockerEngine): NodeJS.ProcessEnv => ({
  ...engine.env,
  ...(engine.ours ? standIns : {}),
  QUITTANCE_IMAGE_PREFIX: PREFIX,
  QUITTANCE_IMAGE_TAG: TAG,
});

/**
 * Runs some parts side by side, when the images are there that each of them would build. What the first says is passed on at
 * once, and what another says when it has ended: mixed, it could not be read.
 */
async function runTogether(parts: readonly Part[], engine: DockerEngine): Promise<Outcome[]> {
  if (parts.length > 1) {
    Object.assign(process.env, environmentOn(engine));
    try {
      await buildMissingImages(imageNames, say);
    } catch (error) {
      say(reason(error));
      return parts.map(({ name }) => ({ name, passed: 0, failed: 1, skipped: 0, seconds: 0 }));
    }
    if (interrupted) return [];
  }
  const passOn = (chunk: Buffer) => void process.stdout.write(chunk);
  const ended = parts.map(async (part, index) => {
    const kept: Buffer[] = [];
    const outcome = await run(part, engine, index === 0 ? passOn : (chunk) => void kept.push(chunk));
    kept.forEach(passOn);
    return outcome;
  });
  return await Promise.all(ended);
}

/** Runs the suites of a part, and reads how they ended off their last line. @param saw is given what they say */
async function run(
  { name, args, env }: Part,
  engine: DockerEngine,
  saw: (chunk: Buffer) => void,
): Promise<Outcome> {
  const began = performance.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'tools/test.ts'), ...args], {
      cwd: root,
      env: { ...environmentOn(engine), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-10_000);
      saw(chunk);
    });
    child.stderr.on('data', saw);
    child.once('close', () => {
      running.delete(child);
      const found = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/m.exec(
        text.trimEnd().split('\n').at(-1) ?? '',
      );
      // eslint-disable-next-line no-restricted-syntax -- how many tests
      const [passed = 0, failed = 1, skipped = 0] = (found ?? []).slice(1).map((count) => Number(count ?? 0));
      resolve({ name, passed, failed, skipped, seconds: (performance.now() - began) / 1_000 });
    });
  });
}

/** Also what a run has left that was killed: its images are of another checkout, its containers have the ports. */
async function removeRemains({ env }: DockerEngine): Promise<void> {
  const remains = async (...order: string[]) =>
    (await shell('docker', [...order, '--filter', `name=${CONTAINER_NAMES}`], { env })).stdout
      .split('\n')
      .filter(Boolean);
  const containers = await remains('ps', '--all', '--quiet');
  if (containers.length > 0) await shell('docker', ['rm', '--force', '--volumes', ...containers], { env });
  for (const kind of ['volume', 'network']) {
    const left = await remains(kind, 'ls', '--quiet');
    if (left.length > 0) await shell('docker', [kind, 'rm', ...left], { env });
  }
  await shell('docker', ['image', 'rm', '--force', ...imageNames.map((name) => `${PREFIX}/${name}:${TAG}`)], {
    env,
  });
}

const running = new Set<{ kill(signal: NodeJS.Signals): boolean }>();
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = true;
    for (const child of running) child.kill('SIGTERM');
  });
}

async function main(): Promise<Counts> {
  const groups = groupsOf(process.argv.slice(2));
  let engine: DockerEngine;
  try {
    engine = await bringUpEngine(say);
  } catch (error) {
    if (!(error instanceof NoEngine)) throw error;
    say(`NO SUITE WAS RUN ON CONTAINERS: ${error.message}`);
    return { passed: 0, failed: 0, skipped: groups.flat().length };
  }
  const outcomes: Outcome[] = [];
  try {
    if (engine.ours) await buildStandIns(engine, say);
    else await removeRemains(engine);
    for (const parts of groups) {
      if (!interrupted) outcomes.push(...(await runTogether(parts, engine)));
    }
  } finally {
    if (!engine.ours) await removeRemains(engine);
    await engine.remove();
    if (engine.ours) say('the Docker engine is stopped, and what it had is deleted');
  }
  for (const { name, seconds, ...counts } of outcomes) {
    say(`${name}: ${closingLine(counts)}, ${seconds.toFixed(0)} s`);
  }
  const sum = (what: keyof Counts) => outcomes.reduce((total, outcome) => total + outcome[what], 0);
  const cut = interrupted ? 1 : 0;
  return { passed: sum('passed'), failed: sum('failed') + cut, skipped: sum('skipped') };
}

let total: Counts;
try {
  total = await main();
} catch (error) {
  say(String(error));
  total = { passed: 0, failed: 1, skipped: 0 };
}
process.stdout.write(`\n${closingLine(total)}\n`);
process.exitCode = total.failed === 0 ? 0 : 1;
