import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Compiles the test contracts: `node testing/stack/contracts/compile.ts`. The results are committed, and a test
 * compares each with its source, so that this needs to run only after a source has changed. That is also why the
 * compiler is fetched here into a folder of its own, and not by everybody who installs the project.
 */
const COMPILER = 'solc@0.8.37';
const LIBRARY = '@openzeppelin/contracts@5.7.0';
const INSTALL_LIMIT_MS = 5 * 60_000;
const contracts = ['TestUsdc', 'Splitter'];

type Compiled = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { abi: unknown[]; evm: { bytecode: { object: string } } }>>;
};
type Compiler = {
  compile(input: string, callbacks: { import(path: string): { contents: string } }): string;
};

const scratch = mkdtempSync(join(tmpdir(), 'quittance-solc-'));
try {
  writeFileSync(join(scratch, 'package.json'), '{ "private": true }');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', COMPILER, LIBRARY], {
    cwd: scratch,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: INSTALL_LIMIT_MS,
  });
  const solc = createRequire(join(scratch, 'package.json'))('solc') as Compiler;
  for (const name of contracts) compile(solc, name);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function compile(solc: Compiler, name: string) {
  const file = `${name}.sol`;
  const content = readFileSync(join(import.meta.dirname, file), 'utf8');
  const input = {
    language: 'Solidity',
    sources: { [file]: { content } },
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (path) => ({ contents: readFileSync(join(scratch, 'node_modules', path), 'utf8') }),
    }),
  ) as Compiled;
  const problems = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.formattedMessage).join('\n'));
  const contract = output.contracts[file]?.[name];
  if (contract === undefined) throw new Error(`${file} holds no contract ${name}`);
  const artifact = {
    compiler: COMPILER,
    library: LIBRARY,
    source_sha256: createHash('sha256').update(content).digest('hex'),
    abi: contract.abi,
    bytecode: `0x${contract.evm.bytecode.object}`,
  };
  writeFileSync(join(import.meta.dirname, `${name}.json`), `${JSON.stringify(artifact, null, 2)}\n`);
  process.stdout.write(`${name}: ${contract.evm.bytecode.object.length / 2} bytes\n`);
}
