import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withChains } from '@quittance/chains/settings';
import { chainSettings } from '@quittance/chains/settings-schema';
import { PortTaken } from '@quittance/engines/free-port';
import { type ClientLog, checkClientLog } from '@quittance/reconciliation/client-log';
import type { Discrepancy } from '@quittance/reconciliation/discrepancy';
import { secretsInLogs } from '@quittance/reconciliation/secrets-in-logs';
import { type BooksReport, verifyBooks } from '@quittance/reconciliation/verify-books';
import { systemClock } from '@quittance/shared/clock';
import { loadConfig } from '@quittance/shared/config';
import { type Db, openDb } from '@quittance/shared/db';
import type { Service } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { openAccount } from '@quittance/stack/open-account';
import { PORTS } from '@quittance/stack/ports';
import { type Stack, type StackOptions, startStack } from '@quittance/stack/stack';
import { z } from 'zod';
import { type BitcoinCustomer, bitcoinCustomer } from './bitcoin-customer.ts';
import { type Customer as EthereumCustomer, ethereumCustomer } from './ethereum-customer.ts';
import { eventually } from './eventually.ts';
import { type Merchant, merchant } from './merchant.ts';
import { patient } from './patience.ts';
import { type SolanaCustomer, solanaCustomer } from './solana-customer.ts';

export type Quittance = {
  url: string;
  stack: Stack;
  /** Each chain's node, and the customer's money on it. */
  ethereum: EthereumCustomer;
  bitcoin: BitcoinCustomer;
  solana: SolanaCustomer;
  /** A new account of its own for one test. */
  merchant(name?: string): Promise<Merchant>;
  /** Superuser access to the stack's database, for looking. */
  db: Db;
  /** The records, compared with the chains; what is younger than the grace period may still be on its way. */
  books(gracePeriodSeconds?: number): Promise<BooksReport>;
  /** What all merchants of this stack asked and were answered, and where the database says otherwise. */
  clientLog: ClientLog;
  clientDiscrepancies(): Promise<Discrepancy[]>;
  /** Stops everything; throws when in the end an invariant is violated, the records differ from what clients were told, or a log holds a secret. */
  stop(): Promise<void>;
};

export type QuittanceOptions = Pick<
  StackOptions,
  | 'settings'
  | 'publicHost'
  | 'redis'
  | 'chains'
  | 'auditor'
  | 'together'
  | 'engineDirs'
  | 'natsSyncInterval'
  | 'streamReplicas'
  | 'parts'
  | 'busAdmin'
  | 'say'
> & {
  /** Waits for the disk as in production; tests that measure nothing need not. */
  durable?: boolean;
  /** Postgres' own settings, over those. */
  postgresSettings?: Record<string, string>;
  /** False where a load leaves more on its way than anybody wants to wait for. */
  checkBooks?: boolean;
  /** The services log warnings only. */
  quiet?: boolean;
  /** Network fees stay as a new installation has them; else they follow the chains. */
  fixedFees?: boolean;
  /** Bitcoin's and Ethereum's blocks come by themselves; else only when they are mined. */
  blockEverySeconds?: number;
  /** How long a slot of Solana takes; what is signed is valid for 150 of them. */
  solanaSlotMs?: number;
  /** False: answers are not compared with the reference of the API. */
  checkAnswers?: boolean;
  /** Blocks until a payment is final; few, so that tests mine few. */
  confirmations?: number;
};

/** What is on its way between the services arrives within this. */
const BOOKS_WITHIN_MS = 30_000;

function assertRight(discrepancies: readonly Discrepancy[]): void {
  if (discrepancies.length > 0)
    throw new Error(
      `the books do not balance: ${discrepancies.map(({ invariant, what }) => `${invariant} ${what}`).join('; ')}`,
    );
}

function present<T>(node: T | undefined, chain: string): T {
  if (node === undefined) throw new Error(`this stack has no node of ${chain}`);
  return node;
}

type Settings = Partial<Record<Service, Record<string, string>>>;

const STARTS_MAX = 5;
/** Bitcoin and Ethereum mine when told to. Solana's slots come by themselves: final after three seconds. */
const SOLANA_SLOT_MS = 100;
const FIRST_PORT = 20_000;
/** All of them end below 32,768, where Linux begins to give ports to whoever connects. */
const STACKS_SIDE_BY_SIDE = 900;

/**
 * The whole of Quittance for a test: real engines, a real chain node that mines when told to, five services
 * as processes or several as one, on ports and data of its own.
 */
export async function startQuittance(options: QuittanceOptions = {}): Promise<Quittance> {
  const dir = mkdtempSync(join(tmpdir(), 'quittance-'));
  const stack = await startSomewhere({
    ...options,
    dir,
    settings: testSettings(options),
    postgresSettings: {
      ...(options.durable === true ? {} : { fsync: 'off', synchronous_commit: 'off' }),
      ...options.postgresSettings,
    },
    pace: {
      ethereumBlockSeconds: options.blockEverySeconds,
      bitcoinBlockSeconds: options.blockEverySeconds,
      solanaSlotMs: options.solanaSlotMs ?? SOLANA_SLOT_MS,
    },
    beforeServices: (adminUrl) => decideAssets(adminUrl, options),
  });
  const logger = createLogger('testkit', 'error');
  // While several stacks start side by side, a connection takes seconds.
  const common = { url: stack.adminUrl, logger, connectWithinMs: patient(10_000) };
  const db = openDb({ ...common, schema: 'public', pool: 2 });
  const watched = loadConfig('the books', withChains(z.object(chainSettings)), stack.chainSettings).chains;
  const chains = watched.map((settings) => ({ settings }));
  const books = (gracePeriodSeconds = 0) =>
    verifyBooks({ databaseUrl: stack.adminUrl, gracePeriodSeconds, chains });
  const { busPasswords, ...ownSecrets } = stack.secrets;
  const secrets: Record<string, string> = { ...ownSecrets };
  for (const [user, password] of Object.entries(busPasswords)) secrets[`password of ${user}`] = password;
  const leaks = (): Promise<Discrepancy[]> => {
    const files = readdirSync(join(dir, 'logs')).map((name) => join(dir, 'logs', name));
    return secretsInLogs(files, secrets);
  };
  const gateway = openDb({ ...common, schema: 'gateway', pool: 1 });
  const clientLog: ClientLog = [];
  // Loaded only here: what is installed from npm has neither the reference nor what reads it.
  const check =
    options.checkAnswers === false ? undefined : (await import('./documented-answers.ts')).checkAnswer;
  return {
    url: stack.url,
    stack,
    ethereum: ethereumCustomer(stack.nodes.ethereum.rpc, stack.nodes.ethereum.tokens.USDC_ERC20),
    get bitcoin() {
      return bitcoinCustomer(present(stack.engines.bitcoin, 'Bitcoin'));
    },
    get solana() {
      return solanaCustomer(present(stack.nodes.solana, 'Solana'));
    },
    db,
    async merchant(name = `merchant ${randomBytes(4).toString('hex')}`) {
      const { id, token } = await openAccount({ db: gateway, clock: systemClock }, name, 'testkit');
      secrets[`token of ${name}`] = token;
      return merchant(stack.url, id, token, undefined, clientLog, check);
    },
    books,
    clientLog,
    clientDiscrepancies: () => checkClientLog(db, clientLog),
    async stop() {
      try {
        if (options.checkBooks !== false) {
          await eventually(async () => assertRight((await books()).discrepancies), BOOKS_WITHIN_MS);
          await eventually(async () => assertRight(await checkClientLog(db, clientLog)), BOOKS_WITHIN_MS);
        }
        assertRight(await leaks());
      } finally {
        await Promise.all([db.close(), gateway.close()]);
        await stack.stop();
        await stack.engines.postgres.destroy();
        rmSync(dir, { recursive: true, force: true });
      }
    },
  };
}

/**
 * What lets tests be quick, and what a test wants beside. Workers that looked more often would take the processor from the tests.
 */
export function testSettings({ settings = {}, quiet = false }: QuittanceOptions): Settings {
  const common: Record<string, string> = quiet ? { LOG_LEVEL: 'warn' } : {};
  return {
    ledger: { ...common, ...settings.ledger },
    webhooks: { ...common, ...settings.webhooks },
    gateway: {
      ...common,
      // Out of the way unless a test is about it.
      RATE_LIMIT_PER_MINUTE: '1000000',
      // All of a test's merchants and customers have one address.
      CONNECTIONS_PER_CLIENT: '100000',
      ...settings.gateway,
    },
    // A hundred invoices a second need no more addresses ready, and deriving one takes a millisecond.
    invoices: {
      ...common,
      SCAN_EVERY_MS: '400',
      SCAN_IDLE_EVERY_MS: '400',
      ADDRESSES_AHEAD: '32',
      ...settings.invoices,
    },
    payouts: { ...common, PAYOUTS_EVERY_MS: '400', ...settings.payouts },
    signer: { ...common, ...settings.signer },
    auditor: { ...common, CHECK_EVERY_MS: '4000', ...settings.auditor },
  };
}

/** On ports that nobody has. */
export async function startSomewhere(options: Omit<StackOptions, 'basePort'>): Promise<Stack> {
  for (let tries = 1; ; tries++) {
    try {
      return await startStack({ ...options, basePort: FIRST_PORT + PORTS * randomInt(STACKS_SIDE_BY_SIDE) });
    } catch (error) {
      if (!(error instanceof PortTaken) || tries === STARTS_MAX) throw error;
    }
  }
}

async function decideAssets(
  adminUrl: string,
  { confirmations = 3, fixedFees = false }: QuittanceOptions,
): Promise<void> {
  const db = openDb({ url: adminUrl, schema: 'ledger', pool: 1, logger: createLogger('testkit', 'error') });
  try {
    await db.rows('update assets set min_confirmations = $1', [confirmations]);
    if (fixedFees) await db.rows('update assets set fee_floor = network_fee, fee_cap = network_fee');
  } finally {
    await db.close();
  }
}
