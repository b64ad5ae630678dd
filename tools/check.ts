import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * npm run check [tool …]
 *
 * Runs every tool that judges the source, two at a time, and prints a line for each; of those that fail also
 * what they said. Exit code 1 when one fails.
 */
const root = join(import.meta.dirname, '..');
/** Run without the shims of node_modules/.bin: those are shells, and a tool outlives the shell that is stopped. */
const node = (file: string, ...args: string[]) => [process.execPath, join(root, file), ...args];
const folders = [
  'packages',
  'services',
  'apps',
  'testing',
  'tools',
  'test',
  'bench',
  'examples',
  'integrations',
].filter((folder) => existsSync(join(root, folder)));

const cruiser = 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs';

/** The slowest first, so that the short ones fill the second place meanwhile. */
const tools: Record<string, readonly string[]> = {
  eslint: node('node_modules/eslint/bin/eslint.js', '.', '--max-warnings=0'),
  'rules that need types': node(
    'node_modules/oxlint/bin/oxlint',
    '--type-aware',
    '--deny-warnings',
    '--config',
    '.oxlintrc.json',
    '.',
  ),
  types: node('node_modules/typescript/bin/tsc', '--noEmit', '-p', '.'),
  'types of the dashboard': node('node_modules/typescript/bin/tsc', '--noEmit', '-p', 'apps/dashboard'),
  knip: node('node_modules/knip/bin/knip.js', '--no-progress', '--no-config-hints'),
  imports: node(cruiser, ...folders, '--config', '.dependency-cruiser.cjs', '--output-type', 'err-long'),
  'dependency rules': node('tools/check-dependency-rules.ts'),
  biome: node('node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'),
  'secret scan': node('tools/secret-scan.ts'),
  words: node('tools/words.ts'),
};

const AT_ONCE = 2;
/** In CI they have what the tests leave of the cores. */
const TOOL_LIMIT_MS = 20 * 60_000;

type Outcome = { passed: boolean; output: string; seconds: number };

function run(command: readonly string[]): Promise<Outcome> {
  const [program = '', ...args] = command;
  const start = performance.now();
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(program, args, {
      cwd: root,
      // The shim that starts Node sets NODE_PATH; a tool shall see what Node sees.
      env: { ...process.env, NODE_PATH: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TOOL_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    const end = (passed: boolean) => resolve({ passed, output, seconds: (performance.now() - start) / 1000 });
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => {
      output += error.message;
      end(false);
    });
    child.on('close', (code, signal) => {
      if (code === null) output += `stopped by ${signal}, the limit is ${TOOL_LIMIT_MS / 1000} s\n`;
      end(code === 0);
    });
  });
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(tools, name));
if (unknown.length > 0) {
  process.stdout.write(`no tool named ${unknown.join(', ')}; there are ${Object.keys(tools).join(', ')}\n`);
  process.exit(1);
}

const queue = Object.entries(tools).filter(([name]) => asked.length === 0 || asked.includes(name));
const failed: string[] = [];
const start = performance.now();

async function work() {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const [name, command] = next;
    const { passed, output, seconds } = await run(command);
    if (!passed) failed.push(name);
    process.stdout.write(
      `${name.padEnd(8)} ${passed ? 'ok    ' : 'FAILED'} ${seconds.toFixed(1).padStart(6)} s\n`,
    );
    if (!passed) process.stdout.write(`\n${output.trim()}\n\n`);
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work));
const seconds = ((performance.now() - start) / 1000).toFixed(1);
process.stdout.write(
  failed.length === 0 ? `check passed in ${seconds} s\n` : `check failed: ${failed.join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
