import { spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { type Block, blocksOf, type NotRun, notRun, runnable, scriptOf } from './guides/blocks.ts';

/** Every command and every program in README.md and in the guides, run against a sandbox in the order in which they stand. */

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'quittance-guides-'));
const home = join(scratch, 'sandbox');
const READY_WITHIN_MS = 180_000;
/** One waits for an invoice of a minute, and for its chain. */
const RUN_WITHIN_MS = 240_000;
/** The end of what a failed document said. */
const OUTPUT_SHOWN = 4_000;

const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs/guides'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/guides/${name}`),
];
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const blocks: Block[] = documents.flatMap((document) => blocksOf(document, textOf(document)));
const isListed = (block: Block) => notRun.some((entry) => matches(entry, block));
const matches = ({ document, begins }: NotRun, block: Block) =>
  document === block.document && block.code.startsWith(begins);

let sandbox: { output: () => string; stop: () => Promise<void> } | undefined;

function started(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
) {
  const child = spawn(command, args, { ...options, detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const kill = (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, signal);
  };
  return { output: () => output, ended, kill };
}

/** `node`, and `npm` and `npx` as they are in a checkout. The packages that `npm install` names are there: see packed.test.ts. */
function commands(): string {
  const bin = join(scratch, 'bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, 'node'));
  const command = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/usr/bin/env bash\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const scripts: Record<string, string> = JSON.parse(textOf('package.json')).scripts;
  const run = ['pay', 'verify-books'].map((name) => {
    const [, file = ''] = /exec \S+ (.+)$/.exec(scripts[name] ?? '') ?? [];
    return `"run ${name}") shift 2; [ "\${1:-}" != -- ] || shift; cd '${root}'; exec node ${file} "$@" ;;`;
  });
  command(
    'npm',
    `case "$1 \${2:-}" in\n${run.join('\n')}\ninstall*|'pkg set') ;;\n*) echo "npm $*: not here" >&2; exit 1 ;;\nesac`,
  );
  const cli = `'${root}/apps/cli/src/main.ts'`;
  command(
    'npx',
    `case "$1" in\nquittance) shift; exec node ${cli} "$@" ;;\nnode) exec "$@" ;;\n*) exit 1 ;;\nesac`,
  );
  return bin;
}

beforeAll(
  async () => {
    const port = await freePort();
    const env = { ...process.env, SANDBOX_DIR: home };
    const run = started(process.execPath, ['apps/sandbox/src/main.ts', '--port', String(port)], {
      cwd: root,
      env,
    });
    sandbox = {
      output: run.output,
      async stop() {
        run.kill('SIGINT');
        await run.ended;
      },
    };
    await eventually(() => expect(run.output()).toContain('Quittance is ready'), READY_WITHIN_MS);
    const limit = started(process.execPath, ['apps/cli/src/main.ts', 'account', 'limit', 'demo', '100000'], {
      cwd: root,
      env,
    });
    expect([await limit.ended, limit.output()]).toEqual([0, expect.any(String)]);
    commands();
  },
  patient(READY_WITHIN_MS + 20_000),
);

afterAll(async () => {
  await sandbox?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

/** Runs the blocks of a document in one shell, in an empty project. */
async function runDocument(document: string): Promise<{ code: number | null; output: string }> {
  const project = join(scratch, basename(document, '.md'));
  mkdirSync(project);
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  // house-rules-disable beside -- the sandbox and the folder are this suite's own
  symlinkSync(home, join(project, '.sandbox'));
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }\n');
  const { url, accounts } = JSON.parse(readFileSync(join(home, 'sandbox.json'), 'utf8'));
  const port = String(await freePort());
  const run = blocks.filter((block) => block.document === document && runnable(block) && !isListed(block));
  const script = scriptOf(run).replaceAll(/\b3000\b/g, port);
  const env = {
    ...process.env,
    ...{ NODE_OPTIONS: undefined, NODE_PATH: undefined, PORT: port, SANDBOX_DIR: home },
    PATH: `${join(scratch, 'bin')}:${process.env['PATH']}`,
    QUITTANCE_URL: url,
    QUITTANCE_TOKEN: accounts[0].token,
  };
  const bash = started('bash', ['-c', script], { cwd: project, env });
  const limit = setTimeout(() => bash.kill('SIGKILL'), patient(RUN_WITHIN_MS));
  const code = await bash.ended;
  clearTimeout(limit);
  return { code, output: bash.output() };
}

const withBlocks = documents.filter((document) =>
  blocks.some((block) => block.document === document && runnable(block) && !isListed(block)),
);
const runs = new Map<string, ReturnType<typeof runDocument>>();

test.each(withBlocks)(
  'every command and program of %s runs',
  async (document) => {
    // All at once: most of them wait for a chain.
    if (runs.size === 0) for (const one of withBlocks) runs.set(one, runDocument(one));
    const { code, output } = (await runs.get(document)) ?? { code: null, output: '' };
    expect({ code, output: code === 0 ? '' : output.slice(-OUTPUT_SHOWN) }).toEqual({ code: 0, output: '' });
  },
  patient(RUN_WITHIN_MS + 60_000),
);

test('what is not run is listed once with its reason, and nothing else is', () => {
  const shown = blocks.filter(runnable);
  const unmatched = notRun.filter((entry) => shown.filter((block) => matches(entry, block)).length !== 1);
  expect(unmatched).toEqual([]);
  const left = shown.filter(isListed).length;
  process.stdout.write(
    `${shown.length - left} blocks of the guides and README.md are run, ${left} are not\n`,
  );
  expect(left).toBe(notRun.length);
});
