import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { newRecoveryPhrase } from '@quittance/chains/keys';
import { hasBitcoind } from '@quittance/engines/bitcoind';
import type { Engine } from '@quittance/engines/process';
import { assets, isAssetSymbol } from '@quittance/shared/assets';
import { busUsers } from '@quittance/shared/bus-permissions';
import { services } from '@quittance/shared/events';
import { newGatewayKeys } from '@quittance/shared/gateway-keys';
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
import { type Nodes, nodesSchema, payFromFaucet } from '@quittance/stack/faucet';
import { processes } from '@quittance/stack/parts';
import { DEFAULT_PORT, portsFrom } from '@quittance/stack/ports';
import { testUsdcAddress } from '@quittance/stack/test-usdc';
import { z } from 'zod';
import { forgetReady, sayReady } from './image-ready.ts';
import { runSandbox } from './run-sandbox.ts';

/*
 * The image quittance/sandbox: all of Quittance in one container, or the chain nodes of docker-compose.yml's profile `sandbox`
 * alone. Those are Ethereum's and Bitcoin's: Solana's keeps nothing between starts, which takes a look into the database that
 * a node has no business with.
 */
const usage = `docker run … quittance/sandbox [COMMAND]

  (nothing)                 runs all of Quittance, with nodes on test chains: docker run -p 8400:8400 quittance/sandbox
  chains                    runs the nodes of Ethereum and Bitcoin only, for docker-compose.yml
  env                       prints an .env for docker compose with everything its sandbox needs, its secrets made anew

In a container that runs: docker exec CONTAINER node start.ts …
  token                     prints the API token of the first account
  pay INVOICE_ID            pays an invoice from the faucet; --amount X pays another amount
  pay ASSET ADDRESS AMOUNT  pays any address from the faucet

  BLOCK_SECONDS             time between blocks of Ethereum and Bitcoin (1 and 5)
  PUBLIC_URL                the URL by which others reach the container (http://localhost:8400)
`;

const PORTS_INSIDE = portsFrom(20_400);
/** The file is that of testing/engines, which keeps a password that is there. */
const BITCOIN_PASSWORD_FILE = 'quittance-password';

const say = (line: string) => process.stdout.write(`${line}\n`);
const env = process.env;
const dir = env['SANDBOX_DIR'] ?? '/data';
const sandboxFile = join(dir, 'sandbox.json');

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

async function runEverything(): Promise<void> {
  const publicUrl: Record<string, string> = env['PUBLIC_URL'] ? { PUBLIC_URL: env['PUBLIC_URL'] } : {};
  const settings = Object.fromEntries(services.map((service) => [service, publicUrl]));
  const { url } = await runSandbox({
    home: dir,
    port: DEFAULT_PORT,
    pace: pace(),
    // The only port that others reach: everything else listens to the container itself.
    settings: { ...settings, gateway: { ...publicUrl, HOST: '0.0.0.0' } },
    payCommand: `docker exec ${hostname()} node start.ts pay`,
    goodbye: 'stopped',
  });
  sayReady(url);
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
  sayReady();
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
  const gatewayKeys = newGatewayKeys();
  const secret = () => randomBytes(24).toString('hex');
  const settings: Record<string, string> = {
    PUBLIC_URL: 'http://127.0.0.1:8400',
    POSTGRES_PASSWORD: secret(),
    OPERATOR_DATABASE_PASSWORD: secret(),
    REDIS_PASSWORD: secret(),
  };
  for (const service of services) settings[`${service.toUpperCase()}_DATABASE_PASSWORD`] = secret();
  for (const user of busUsers) settings[`${user.toUpperCase()}_NATS_PASSWORD`] = secret();
  Object.assign(settings, {
    GATEWAY_PRIVATE_KEY: gatewayKeys.privateKey,
    GATEWAY_PUBLIC_KEY: gatewayKeys.publicKey,
    CLAIM_LINKS_SECRET: randomBytes(32).toString('hex'),
    WEBHOOK_SECRETS_KEY: randomBytes(32).toString('hex'),
    TOTP_SECRETS_KEY: randomBytes(32).toString('hex'),
    WEBHOOKS_SIGNING_KEY: `whsk_${randomBytes(32).toString('base64')}`,
    WALLET_SEED: seed,
    ...chains.node,
    ...chains.addresses,
    ...chains.hotWallets,
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

async function pay(given: readonly string[]): Promise<void> {
  const [asset = '', to = '', amount = ''] = given;
  if (asset.startsWith('inv_')) {
    // That file is a command of its own, which reads its arguments and this folder itself.
    process.argv.splice(2, 1);
    env['SANDBOX_DIR'] = dir;
    await import('./pay.ts');
    return;
  }
  if (!isAssetSymbol(asset)) throw new Error(`there is no asset ${JSON.stringify(asset)}\n\n${usage}`);
  const parsed = parseUnits(amount, assets[asset].decimals);
  if (!parsed.ok) throw new Error(`${JSON.stringify(amount)} is no amount of ${asset} (${parsed.refusal})`);
  say(await payFromFaucet(theNodes(), asset, { to, amount: parsed.value }));
}

/** Of all of Quittance where that runs here, otherwise those that run alone. */
function theNodes(): Nodes {
  if (existsSync(sandboxFile)) return sandbox().nodes;
  const ethereum = {
    rpc: `http://127.0.0.1:${PORTS_INSIDE.ethereum}`,
    tokens: { USDC_ERC20: testUsdcAddress() },
  };
  return { ethereum, bitcoin: { rpc: bitcoinUrl(theSeed(), '127.0.0.1', PORTS_INSIDE.bitcoin) } };
}

function sandbox() {
  const schema = z.object({ accounts: z.array(z.object({ token: z.string() })), nodes: nodesSchema });
  return schema.parse(JSON.parse(readFileSync(sandboxFile, 'utf8')));
}

function printToken(): void {
  const [first] = existsSync(sandboxFile) ? sandbox().accounts : [];
  if (first === undefined) throw new Error('Quittance is not ready here yet');
  say(first.token);
}

function theSeed(): string {
  const seed = env['WALLET_SEED'];
  if (seed === undefined || seed === '')
    throw new Error('WALLET_SEED: is required, the hot wallets are filled');
  return seed;
}

const [command, ...rest] = process.argv.slice(2);
try {
  if (command === undefined || command === 'chains') forgetReady();
  if (command === undefined) await runEverything();
  else if (command === 'chains') await runNodes(theSeed());
  else if (command === 'env') printEnv();
  else if (command === 'token') printToken();
  else if (command === 'pay') await pay(rest);
  else process.stdout.write(usage);
} catch (error) {
  process.stderr.write(`${reason(error)}\n`);
  process.exit(1);
}
