import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { newRecoveryPhrase } from '@quittance/chains/keys';
import { hasBitcoind } from '@quittance/engines/bitcoind';
import type { Engine } from '@quittance/engines/process';
import { assets, isAssetSymbol } from '@quittance/shared/assets';
import { busUsers } from '@quittance/shared/bus-permissions';
import { services } from '@quittance/shared/events';
import { reason } from '@quittance/shared/logger';
import { parseUnits } from '@quittance/shared/money';
import {
  BITCOIN_PORT,
  bitcoinPassword,
  bitcoinUrl,
  chainContainerSettings,
  ETHEREUM_PORT,
} from '@quittance/stack/chain-container';
import { humanePace, type Pace, prepareChains, startChainNodes } from '@quittance/stack/chain-nodes';
import { type Nodes, payFromFaucet } from '@quittance/stack/faucet';
import { processes } from '@quittance/stack/parts';
import { portsFrom } from '@quittance/stack/ports';
import { testUsdcAddress } from '@quittance/stack/test-usdc';

/*
 * The chain nodes of docker-compose.yml's profile `sandbox`, in one container: Ethereum's and Bitcoin's. Solana's keeps
 * nothing between starts, which takes a look into the database that a node has no business with; npm start has it.
 */
const usage = `docker run … quittance/sandbox [COMMAND]

  (nothing)                 runs the nodes; their data is in /data
  env                       prints an .env for docker compose with everything the sandbox needs, its secrets made anew
  pay ASSET ADDRESS AMOUNT  pays from the faucet of the nodes that run here: docker compose exec chains node start.ts pay …
`;

const PORTS_INSIDE = portsFrom(20_400);
/** The file is that of testing/engines, which keeps a password that is there. */
const BITCOIN_PASSWORD_FILE = 'quittance-password';

const say = (line: string) => process.stdout.write(`${line}\n`);
const env = process.env;
const dir = env['SANDBOX_DIR'] ?? '/data';

/** BLOCK_SECONDS, for Bitcoin and Ethereum alike; with 0, blocks come only when the nodes are asked for them. */
function pace(): Pace {
  const text = env['BLOCK_SECONDS'] ?? '';
  if (text === '') return humanePace;
  // eslint-disable-next-line no-restricted-syntax -- seconds
  const seconds = Number(text);
  if (!(seconds >= 0)) throw new Error(`BLOCK_SECONDS: is ${text}, it may be 0 or more`);
  if (seconds === 0) return { solanaSlotMs: humanePace.solanaSlotMs };
  return { ...humanePace, ethereumBlockSeconds: seconds, bitcoinBlockSeconds: seconds };
}

async function runNodes(seed: string): Promise<void> {
  const engines: Engine[] = [];
  const relays: Server[] = [];
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    for (const relay of relays) relay.close();
    await Promise.all(engines.map((engine) => engine.stop()));
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());

  const bitcoinDir = join(dir, 'bitcoin');
  mkdirSync(bitcoinDir, { recursive: true, mode: 0o700 });
  const passwordFile = join(bitcoinDir, BITCOIN_PASSWORD_FILE);
  if (!existsSync(passwordFile)) writeFileSync(passwordFile, bitcoinPassword(seed), { mode: 0o600 });
  const nodes = await startChainNodes({
    dir,
    ports: PORTS_INSIDE,
    pace: pace(),
    parts: processes,
    chains: ['bitcoin'],
    keep: (engine) => {
      engines.push(engine);
      return engine;
    },
    // The container ends with its nodes, and whoever runs it starts both again.
    onUnexpectedExit: (error) => {
      say(error.message);
      process.exit(1);
    },
    say,
  });
  await prepareChains(nodes, seed, Promise.resolve({ lamports: 0n, usdc: 0n }));
  relays.push(await relay(ETHEREUM_PORT, PORTS_INSIDE.ethereum));
  if (nodes.bitcoin !== undefined) relays.push(await relay(BITCOIN_PORT, PORTS_INSIDE.bitcoin));
  const bitcoin = nodes.bitcoin === undefined ? '' : `, Bitcoin ${BITCOIN_PORT}`;
  say(`the nodes are ready: Ethereum ${ETHEREUM_PORT}${bitcoin}`);
}

/** Hands connections through. One that breaks at one end ends at the other. */
function relay(outside: number, inside: number): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const node = connect({ host: '127.0.0.1', port: inside, allowHalfOpen: true });
    socket.pipe(node).pipe(socket);
    socket.on('error', () => node.destroy());
    node.on('error', () => socket.destroy());
    socket.on('close', () => node.destroy());
    node.on('close', () => socket.destroy());
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '0.0.0.0', port: outside }, () => resolve(server));
  });
}

function printEnv(): void {
  const seed = newRecoveryPhrase(12);
  const chains = chainContainerSettings(seed, 'chains', { bitcoin: hasBitcoind() });
  const secret = () => randomBytes(24).toString('hex');
  const settings: Record<string, string> = {
    PUBLIC_URL: 'http://127.0.0.1:8400',
    POSTGRES_PASSWORD: secret(),
    OPERATOR_DATABASE_PASSWORD: secret(),
  };
  for (const service of services) settings[`${service.toUpperCase()}_DATABASE_PASSWORD`] = secret();
  for (const user of busUsers) settings[`${user.toUpperCase()}_NATS_PASSWORD`] = secret();
  Object.assign(settings, {
    IDENTITY_SECRET: randomBytes(32).toString('hex'),
    WEBHOOK_SECRETS_KEY: randomBytes(32).toString('hex'),
    WALLET_SEED: seed,
    ...chains.node,
    ...chains.addresses,
    ASSETS_ACTIVE: chains.assets.join(','),
    MIN_CONFIRMATIONS: 'BTC=2,ETH=3,USDC_ERC20=3',
    PRICES: 'file:/prices/sandbox.json',
    ALLOW_INSECURE_ENDPOINTS: 'true',
  });
  say(
    '# For docker compose --profile sandbox: coins that are worth nothing. Never use its words for real ones.',
  );
  for (const [name, value] of Object.entries(settings)) say(`${name}=${value}`);
}

async function pay([asset = '', to = '', amount = '']: readonly string[]): Promise<void> {
  if (!isAssetSymbol(asset)) throw new Error(`there is no asset ${JSON.stringify(asset)}\n\n${usage}`);
  const parsed = parseUnits(amount, assets[asset].decimals);
  if (!parsed.ok) throw new Error(`${JSON.stringify(amount)} is no amount of ${asset} (${parsed.refusal})`);
  const bitcoin = bitcoinUrl(theSeed(), '127.0.0.1', PORTS_INSIDE.bitcoin);
  const nodes: Nodes = {
    ethereum: {
      rpc: `http://127.0.0.1:${PORTS_INSIDE.ethereum}`,
      tokens: { USDC_ERC20: testUsdcAddress() },
    },
    bitcoin: { rpc: bitcoin },
  };
  say(await payFromFaucet(nodes, asset, { to, amount: parsed.value }));
}

function theSeed(): string {
  const seed = env['WALLET_SEED'];
  if (seed === undefined || seed === '')
    throw new Error('WALLET_SEED: is required, the hot wallets are filled');
  return seed;
}

const [command, ...rest] = process.argv.slice(2);
try {
  if (command === undefined) await runNodes(theSeed());
  else if (command === 'env') printEnv();
  else if (command === 'pay') await pay(rest);
  else process.stdout.write(usage);
} catch (error) {
  process.stderr.write(`${reason(error)}\n`);
  process.exit(1);
}
