import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assertPortsFree, withPort } from './free-port.ts';
import { mineByTheClock } from './mine-by-the-clock.ts';
import { type Engine, EngineFailed, type EngineOptions, startEngine } from './process.ts';

const ASK_WITHIN_MS = 2_000;
const STATE_EVERY_S = 10;
const [OPEN, CLOSE, QUOTE] = [0x7b, 0x7d, 0x22];
const COPY_CHECK_EVERY_MS = 500;
/** A state file that has not changed for so long is complete: anvil writes it in one go. */
const WRITTEN_AFTER_MS = 500;

export type AnvilOptions = EngineOptions & {
  /** 0 picks a free one. */
  port: number;
  /** 31337 when not given. */
  chainId?: number | undefined;
  /** A block every so many seconds (fractions allowed). Otherwise see `mining`. */
  blockTimeSeconds?: number | undefined;
  /** Without a block time: `auto` mines a block per transaction (the default), `manual` only on `anvil_mine`. */
  mining?: 'auto' | 'manual' | undefined;
  /**
   * The chain is kept in this file: blocks, transactions, receipts, logs, balances and code survive a stop, and
   * a crash but for the last seconds. The pool of pending transactions is not kept.
   */
  statePath?: string | undefined;
  /** How often the file is written while it runs; 10 when not given. */
  stateEverySeconds?: number | undefined;
  /**
   * Keeps the states of so many past blocks and no more, also across a restart. Without it anvil keeps 500 while it
   * runs, and after a restart cannot answer for balances before it, nor reorganise beyond it. Dear, because every state repeats all accounts and the
   * hashes of all blocks: a chain of 10,000 blocks takes 18 MB in the file without, 39 MB with 16 and 102 MB with
   * 64, and 2,000 blocks with all their states take 380 MB and 20 s to load; in memory 6,000 blocks take 100 MB with 16
   * and 250 MB with 64. As few as the readers may lag.
   */
  pastStates?: number | undefined;
  /** How many dev accounts are made; 10 when not given. */
  accounts?: number | undefined;
  /** `safe` is one epoch behind the head and `finalized` two; anvil's 32 when not given. */
  slotsInAnEpoch?: number | undefined;
};

export type AnvilHandle = Engine & { rpcUrl: string; port: number };

/** Starts a real Ethereum node for development, on the loopback interface. */
export async function startAnvil(options: AnvilOptions): Promise<AnvilHandle> {
  const file = anvilBinary();
  return await withPort(options.port, async (port) => {
    const rpcUrl = `http://127.0.0.1:${port}`;
    const cacheDir = options.statePath
      ? `${options.statePath}.cache`
      : path.join(tmpdir(), `anvil-${port}-cache`);
    const copies = options.statePath === undefined ? undefined : stateCopies(options.statePath);
    const engine = await startEngine({
      ...options,
      name: 'anvil',
      // Writes the state file before it ends.
      stopSignal: 'SIGTERM',
      command: async () => {
        await assertPortsFree([{ port, what: 'anvil' }]);
        rmSync(cacheDir, { recursive: true, force: true });
        copies?.begin();
        return { file, args: flags(options, port, cacheDir), env: { HOME: cacheDir } };
      },
      ask: () => askForChainId(rpcUrl, options.chainId ?? 31_337),
      afterEnd: () => {
        copies?.end();
        rmSync(cacheDir, { recursive: true, force: true });
      },
    });
    // Not `--block-time`: with two seconds or less anvil keeps 1,500 past states whatever `--prune-history` says.
    const clock = mineByTheClock(
      engine,
      () => ask(rpcUrl, 'evm_mine'),
      options.blockTimeSeconds,
      options.log,
    );
    return Object.assign(engine, { rpcUrl, port, stop: clock.around(engine.stop) });
  });
}

/** The package's own launcher is another Node process; the binary is beside it, in a package per platform. */
function anvilBinary(): string {
  const require = createRequire(import.meta.url);
  const launcher = require.resolve('@foundry-rs/anvil/package.json');
  const os = process.platform;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  return createRequire(launcher).resolve(`@foundry-rs/anvil-${os}-${arch}/bin/anvil`);
}

function flags(options: AnvilOptions, port: number, cacheDir: string): string[] {
  const { pastStates, statePath } = options;
  const given: [string, string | number | undefined][] = [
    ['--host', '127.0.0.1'],
    ['--port', port],
    ['--chain-id', options.chainId ?? 31_337],
    ['--accounts', options.accounts],
    ['--slots-in-an-epoch', options.slotsInAnEpoch],
    ['--cache-path', cacheDir],
    ['--state', statePath],
    ['--state-interval', statePath === undefined ? undefined : (options.stateEverySeconds ?? STATE_EVERY_S)],
    ['--prune-history', pastStates],
    // In memory it keeps 500 past states anyway; a file for each older one is slow to write and to clear away.
    ['--max-persisted-states', pastStates === undefined ? 0 : undefined],
  ];
  const switches: [string, boolean][] = [
    ['--no-mining', options.mining === 'manual' || options.blockTimeSeconds !== undefined],
    ['--preserve-historical-states', pastStates !== undefined],
    // Without it anvil prints its dev accounts' private keys and every call.
    ['--quiet', true],
  ];
  return [
    ...given.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)])),
    ...switches.flatMap(([flag, on]) => (on ? [flag] : [])),
  ];
}

async function ask(rpcUrl: string, method: string): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
    signal: AbortSignal.timeout(ASK_WITHIN_MS),
  });
  const { result } = (await response.json()) as { result?: unknown };
  if (result === undefined) throw new Error(`${method} has no result`);
  return result;
}

async function askForChainId(rpcUrl: string, chainId: number): Promise<void> {
  const result = await ask(rpcUrl, 'eth_chainId');
  if (result !== `0x${chainId.toString(16)}`) throw new Error(`it answers with the chain ${String(result)}`);
}

/**
 * anvil overwrites its state file in place, so a kill in the middle of it leaves half a file, which anvil
 * refuses at the next start (seen). So the last complete one is kept beside it, and put back when it is needed.
 */
function stateCopies(statePath: string): { begin(): void; end(): void } {
  const copyPath = `${statePath}.copy`;
  let timer: NodeJS.Timeout | undefined;
  let copied = 0;

  const keep = async () => {
    const written = modified(statePath);
    if (written === undefined || written === copied || Date.now() - written < WRITTEN_AFTER_MS) return;
    await copyFile(statePath, `${copyPath}.new`);
    // Written to while it was copied: the copy may be of two halves.
    if (modified(statePath) !== written) return;
    await rename(`${copyPath}.new`, copyPath);
    copied = written;
  };

  return {
    begin: () => {
      recover(statePath, copyPath);
      copied = 0;
      timer = setInterval(() => {
        keep().catch((error: NodeJS.ErrnoException) => {
          // The folder was deleted under a running node, as tests do: there is nothing left to keep.
          if (error.code !== 'ENOENT') throw error;
        });
      }, COPY_CHECK_EVERY_MS).unref();
    },
    end: () => clearInterval(timer),
  };
}

function recover(statePath: string, copyPath: string): void {
  if (!existsSync(statePath)) {
    rmSync(copyPath, { force: true });
    return;
  }
  if (isComplete(statePath)) {
    copyFileSync(statePath, `${copyPath}.new`);
    renameSync(`${copyPath}.new`, copyPath);
    return;
  }
  if (!existsSync(copyPath)) {
    throw new EngineFailed(
      `${statePath} was cut off by a crash and there is no earlier copy: delete it to begin a new chain`,
    );
  }
  copyFileSync(copyPath, statePath);
}

/**
 * Whether the file holds a whole JSON object: one that was cut off leaves a brace or a string open. It may be
 * longer than the longest string, so it is not parsed; it is almost all strings, and those are skipped.
 */
function isComplete(file: string): boolean {
  const bytes = readFileSync(file);
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === OPEN) depth++;
    if (bytes[at] === CLOSE) depth--;
    if (bytes[at] !== QUOTE) continue;
    at = bytes.indexOf(QUOTE, at + 1);
    if (at === -1) return false;
  }
  return bytes.length > 0 && depth === 0;
}

function modified(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
