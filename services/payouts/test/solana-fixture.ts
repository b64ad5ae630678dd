import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { Broadcast } from '@quittance/chains/chain';
import { connectRpc, type Rpc } from '@quittance/chains/json-rpc';
import type { SolanaNetwork } from '@quittance/chains/solana/network';
import { createSolanaSender, type SolanaSender } from '@quittance/chains/solana/sender';
import { checkAddress, openWallet, type SolanaWallet } from '@quittance/chains/solana/wallet';
import { type SurfpoolHandle, startSurfpool } from '@quittance/engines/surfpool';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import { type Db, openDb } from '@quittance/shared/db';
import { type AccountId, newAccountId, newDepositId, type PayoutId } from '@quittance/shared/ids';
import { createLogger, type Logger, throttledLog } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { Secret } from '@quittance/shared/secret';
import { payOnSolana, prepareSolana } from '@quittance/stack/solana';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { solanaCustomer } from '@quittance/testkit/solana-customer';
import { recordDeposits } from '../src/operations/record-deposits.ts';
import { requestPayout } from '../src/operations/request-payout.ts';
import { runChainWorker } from '../src/operations/run-chain-worker.ts';
import type { PayoutChain, Ports } from '../src/ports.ts';
import { SEED } from './service-client.ts';

export const SOL = 10n ** 9n;
/** The rent of an account without data. */
export const RENT = 890_880n;
export const TOKEN_RENT = 2_039_280n;
/** Twenty times as fast as public networks: finalized within a second, expired within four. */
const SLOT_MS = 20;
const GRACE_PERIODS = { resendAfterMs: 1_000, doubtForMs: 30_000, stuckAfterMs: 180_000 };
const HAPPENS_WITHIN_MS = 40_000;
const STEP_MS = 50;

/** The real clock plus an offset that a test sets. */
class TestClock {
  #aheadMs = 0;
  now(): Date {
    return new Date(Date.now() + this.#aheadMs);
  }
  advance(ms: number): void {
    this.#aheadMs += ms;
  }
}

export type Line = { level: string; msg: string } & Record<string, unknown>;

function keepingLogger(lines: Line[]): Logger {
  const keep = (level: string) => (fields: object | string, msg?: string) => {
    lines.push(typeof fields === 'string' ? { level, msg: fields } : { ...fields, level, msg: msg ?? '' });
  };
  const logger = createLogger('payouts', 'silent');
  for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level] = keep(level) as never;
  return logger;
}

/** All tests of a suite share a chain, so no address is used by two of them. */
const keys = openWallet(SEED);
let used = 0;

/** A wallet of its own for one test. */
export function newWallet(): SolanaWallet {
  used += 1_000;
  const first = used;
  return {
    hotAddress: keys.depositAddress(first),
    hotSigner: keys.depositSigner(first),
    depositAddress: (index) => keys.depositAddress(first + 1 + index),
    depositSigner: (index) => keys.depositSigner(first + 1 + index),
  };
}

/** A node with a test USD Coin, and a database, for a suite. */
export type SolanaEngines = {
  node: SurfpoolHandle;
  usdcMint: string;
  database: TestDatabase;
  stop(): Promise<void>;
};

export async function solanaEngines(): Promise<SolanaEngines> {
  const [node, database] = await Promise.all([
    startSurfpool({ port: 0, wsPort: 0, slotMs: SLOT_MS }),
    testDatabase(),
  ]);
  const nobody = newWallet().hotAddress;
  const usdcMint = await prepareSolana(node.rpcUrl, { address: nobody, lamports: SOL, usdc: 0n });
  return {
    node,
    usdcMint,
    database,
    stop: async () => {
      await node.stop();
      await database.drop();
    },
  };
}

type FixturePorts = Ports & PayoutChain<'solana'>;
type Row = Record<string, unknown>;

/** The chain worker with its ports for one test: empty tables, a wallet of its own, and a real node. */
export class SolanaFixture {
  readonly db: Db;
  /** A superuser's connection, for what the service's own role may not do. */
  readonly admin: Db;
  readonly clock = new TestClock();
  readonly lines: Line[] = [];
  readonly account: AccountId = newAccountId(new Date());
  readonly wallet: SolanaWallet = newWallet();
  readonly sender: SolanaSender;
  readonly ports: FixturePorts;
  readonly rpc: Rpc;
  readonly network: SolanaNetwork;
  readonly customer: ReturnType<typeof solanaCustomer>;
  /** The transactions that were sent to the node, in order. */
  readonly sent: string[] = [];
  /** Replaces the broadcast, when a test wants a fault. */
  onBroadcast: (raw: string, send: () => Promise<Broadcast>) => Promise<Broadcast> = (_raw, send) => send();
  readonly #engines: SolanaEngines;

  private constructor(engines: SolanaEngines) {
    this.#engines = engines;
    const logger = keepingLogger(this.lines);
    this.db = openDb({ url: engines.database.urlOf('payouts'), schema: 'payouts', pool: 4, logger });
    this.admin = openDb({ url: engines.database.adminUrl, schema: 'payouts', pool: 1, logger });
    this.rpc = connectRpc(engines.node.rpcUrl);
    this.network = { name: 'local', usdcMint: engines.usdcMint };
    this.customer = solanaCustomer({ rpc: engines.node.rpcUrl, tokens: { USDC_SOL: engines.usdcMint } });
    const real = createSolanaSender({ rpc: this.rpc, network: this.network, wallet: this.wallet });
    this.sender = {
      ...real,
      broadcast: async (raw) => {
        this.sent.push(raw);
        return this.onBroadcast(raw, () => real.broadcast(raw));
      },
    };
    this.ports = this.replica();
  }

  /** A fixture with this balance of the hot wallet. */
  static async fresh(
    engines: SolanaEngines,
    hot: { lamports: bigint; usdc?: bigint },
  ): Promise<SolanaFixture> {
    const fixture = new SolanaFixture(engines);
    const tables = [
      'wallet_histories',
      'unswept_deposits',
      'payments',
      'transactions',
      'wallets',
      'payouts',
      'leases',
      'outbox',
    ];
    for (const table of tables) await fixture.admin.rows(`delete from ${table}`);
    if (hot.lamports > 0n) await fixture.pay('SOL', fixture.wallet.hotAddress, hot.lamports);
    if (hot.usdc !== undefined) await fixture.pay('USDC_SOL', fixture.wallet.hotAddress, hot.usdc);
    return fixture;
  }

  replica(given: Partial<FixturePorts> = {}): FixturePorts {
    const logger = keepingLogger(this.lines);
    const placed = { known: true, reply: { outcome: 'placed' } };
    return {
      kind: 'solana',
      chain: 'solana',
      assets: ['SOL', 'USDC_SOL'],
      checkAddress: (text) => checkAddress(this.network, text),
      chains: new Map(),
      db: this.db,
      bus: { connected: () => true, ask: async () => placed } as Partial<Bus> as Bus,
      clock: this.clock,
      random: randomBytes,
      logger,
      throttledLog: throttledLog(logger, () => this.clock.now().getTime()),
      quotes: { latest: () => undefined, fresh: () => undefined },
      sender: this.sender,
      signingPause: { reason: undefined },
      stalled: new Map(),
      settings: {
        identitySecret: new Secret('x'.repeat(32)),
        publicUrl: 'http://localhost',
        replica: randomUUID(),
        chainWorkerEveryMs: 1_000,
        leaseMs: 60_000,
        gracePeriods: GRACE_PERIODS,
      },
      wakeRelay: () => {},
      ...given,
    };
  }

  /** From a customer's or an operator's wallet; returns when it is finalized. */
  async pay(asset: 'SOL' | 'USDC_SOL', to: string, amount: bigint): Promise<void> {
    const { rpc, tokens } = this.#node;
    const signature = await payOnSolana({ rpc, tokens }, [{ asset, to, amount }]);
    await this.finalized(signature);
  }

  get #node() {
    return { rpc: this.#engines.node.rpcUrl, tokens: { USDC_SOL: this.#engines.usdcMint } };
  }

  async finalized(signature: string): Promise<void> {
    await this.until(async () => expect((await this.sender.status(signature)).state).toBe('mined'));
  }

  async until(look: () => Promise<unknown>): Promise<void> {
    const deadline = Date.now() + HAPPENS_WITHIN_MS;
    for (;;) {
      try {
        await look();
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
      await sleep(STEP_MS);
    }
  }

  /** A payout whose hold the ledger has placed. */
  async reserve(asset: 'SOL' | 'USDC_SOL', amount: bigint, to = this.newRecipient()) {
    const made = await requestPayout(this.ports, {
      account: this.account,
      requestId: 'req_test',
      key: undefined,
      asset,
      amount: units(amount),
      address: to,
      networkFee: units(5_000n),
      minConfirmations: 1,
    });
    if (!made.ok) throw new Error(`not reserved: ${made.refusal}`);
    return { id: made.value, to };
  }

  newRecipient = (): string => newWallet().hotAddress;

  #index = 0;
  /** A settled deposit, on the chain and recorded. @returns its address. */
  async deposit(asset: 'SOL' | 'USDC_SOL', amount: bigint): Promise<string> {
    this.#index += 1;
    const address = this.wallet.depositAddress(this.#index);
    await this.pay(asset, address, amount);
    const payload = {
      deposit_id: newDepositId(new Date()) as string,
      account_id: this.account as string,
      invoice_id: 'inv_test',
      asset: asset as AssetSymbol,
      amount: amount.toString(),
      address,
      derivation_index: this.#index,
      outpoint: `${address}:1`,
      tx_hash: null,
      block_height: 1,
      block_hash: 'block',
      disposition: 'credit' as const,
    };
    await this.db.transaction((trx) => recordDeposits(trx, [{ payload }]));
    return address;
  }

  run(ports = this.ports): Promise<number> {
    return runChainWorker<'solana'>(ports, ports);
  }

  /** Runs rounds until the payout has ended. */
  async ends(id: PayoutId, status: 'mined' | 'failed'): Promise<Row> {
    await this.until(async () => {
      await this.run();
      expect((await this.payout(id))['status']).toBe(status);
    });
    return this.payout(id);
  }

  payout(id: PayoutId): Promise<Row> {
    return this.db.one('select * from payouts where id = $1', [id]);
  }

  transactions(): Promise<Row[]> {
    return this.db.rows('select * from transactions order by id');
  }

  /** The kinds of the events about a payout, in order. */
  async published(id: PayoutId): Promise<string[]> {
    const rows = await this.db.rows<{ kind: string; payload: { fee_kept?: boolean } }>(
      `select kind, payload from outbox where payload->>'payout_id' = $1 or payload->>'resource_id' = $1 order by seq`,
      [id],
    );
    return rows.map(({ kind, payload }) => (payload.fee_kept === true ? `${kind}, fee kept` : kind));
  }

  /** The published network fees. */
  async spent(): Promise<{ amount: string; purpose: string; tx_hash: string; asset: string }[]> {
    const rows = await this.db.rows<{ payload: never }>(
      `select payload from outbox where kind = 'network.spent' order by seq`,
    );
    return rows.map(({ payload }) => payload);
  }

  /** What must be true after every test. */
  async expectSound(): Promise<void> {
    const payouts = await this.db.rows<{
      status: string;
      address: string;
      asset: AssetSymbol;
      amount: string;
    }>('select * from payouts');
    for (const [address, to] of Map.groupBy(payouts, (one) => one.address)) {
      for (const [asset, of] of Map.groupBy(to, (one) => one.asset)) {
        const due = of
          .filter(({ status }) => status === 'mined')
          .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
        const got = await this.customer.balance(asset, address);
        expect({ address, asset, got }).toEqual({ address, asset, got: due });
      }
    }
    // Everything that the node has got was stored first, and no group has two open attempts.
    const transactions = await this.transactions();
    const stored = new Set(transactions.map(({ raw }) => raw));
    for (const raw of this.sent) expect(stored).toContain(raw);
    const open = transactions.filter(({ state }) => state === 'signed' || state === 'broadcast');
    expect(new Set(open.map(({ replacement_group }) => replacement_group)).size).toBe(open.length);
    // The published costs are those of the mined transactions.
    const mined = transactions.filter(({ state }) => state === 'mined' || state === 'reverted');
    expect((await this.spent()).map(({ tx_hash }) => tx_hash).sort()).toEqual(
      mined.map(({ tx_hash }) => tx_hash).sort(),
    );
  }

  async close(): Promise<void> {
    await this.rpc.close();
    await Promise.all([this.db.close(), this.admin.close()]);
  }
}
