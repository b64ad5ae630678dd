import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { checkAddress } from '@quittance/chains/evm/wallet';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Bus } from '@quittance/shared/bus';
import { type Db, openDb } from '@quittance/shared/db';
import { type AccountId, newAccountId, newDepositId, type PayoutId } from '@quittance/shared/ids';
import { createLogger, type Logger, throttledLog } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { Secret } from '@quittance/shared/secret';
import type { TestDatabase } from '@quittance/testkit/engines';
import { recordDeposits } from '../src/operations/record-deposits.ts';
import { requestPayout } from '../src/operations/request-payout.ts';
import { runChainWorker } from '../src/operations/run-chain-worker.ts';
import type { PayoutChain, Ports } from '../src/ports.ts';
import { depositAddress, ScriptedChain } from './scripted-chain.ts';

export const CONFIRMATIONS = 3;
export const ETHER = 10n ** 18n;
const FEE = 10n ** 15n;

/** A clock that only a test moves. */
class TestClock {
  #ms = Date.now();
  now(): Date {
    return new Date(this.#ms);
  }
  advance(ms: number): void {
    this.#ms += ms;
  }
}

export type Line = { level: string; msg: string } & Record<string, unknown>;

/** A logger that keeps its lines. */
function keepingLogger(lines: Line[]): Logger {
  const keep = (level: string) => (fields: object | string, msg?: string) => {
    lines.push(typeof fields === 'string' ? { level, msg: fields } : { ...fields, level, msg: msg ?? '' });
  };
  const logger = createLogger('payouts', 'silent');
  for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level] = keep(level) as never;
  return logger;
}

export type Order = { asset?: AssetSymbol; amount?: bigint; to?: string };

/** The ports of one replica with its one chain. */
export type FixturePorts = Ports & PayoutChain<'evm'>;

/**
 * The chain worker with its ports for one test: a database of its own, a scripted chain, and a ledger that places every
 * hold.
 */
export class EngineFixture {
  readonly chain = new ScriptedChain();
  readonly clock = new TestClock();
  readonly lines: Line[] = [];
  readonly account: AccountId = newAccountId(new Date());
  readonly ports: FixturePorts;
  readonly db: Db;
  /** A superuser's connection, for what the service's own role may not do. */
  readonly admin: Db;
  #recipients = 0;

  constructor(database: TestDatabase) {
    const logger = keepingLogger(this.lines);
    this.db = openDb({ url: database.urlOf('payouts'), schema: 'payouts', pool: 4, logger });
    this.admin = openDb({ url: database.adminUrl, schema: 'payouts', pool: 1, logger });
    this.ports = this.replica();
  }

  /** A fixture with empty tables. The tests of a suite share a database one after the other. */
  static async fresh(database: TestDatabase): Promise<EngineFixture> {
    const fixture = new EngineFixture(database);
    for (const table of [
      'unswept_deposits',
      'payments',
      'transactions',
      'wallets',
      'payouts',
      'leases',
      'outbox',
    ]) {
      await fixture.admin.rows(`delete from ${table}`);
    }
    return fixture;
  }

  /** The ports of one more replica with the same database and chain. */
  replica(given: Partial<FixturePorts> = {}): FixturePorts {
    const logger = keepingLogger(this.lines);
    return {
      kind: 'evm',
      chain: 'ethereum',
      assets: ['ETH', 'USDC_ERC20'],
      checkAddress,
      chains: new Map(),
      db: this.db,
      bus: { connected: () => true, ask: async () => placed } as Partial<Bus> as Bus,
      clock: this.clock,
      random: randomBytes,
      logger,
      throttledLog: throttledLog(logger, () => this.clock.now().getTime()),
      quotes: { latest: () => undefined, fresh: () => undefined },
      sender: this.chain.sender,
      signingPause: { reason: undefined },
      stalled: new Map(),
      settings: {
        identitySecret: new Secret('x'.repeat(32)),
        publicUrl: 'http://localhost',
        replica: randomUUID(),
        chainWorkerEveryMs: 1_000,
        leaseMs: 60_000,
        gracePeriods: { resendAfterMs: 5_000, doubtForMs: 30_000, stuckAfterMs: 180_000 },
      },
      wakeRelay: () => {},
      ...given,
    };
  }

  /** A payout whose hold the ledger has placed. */
  async reserve({ asset = 'ETH', amount = ETHER, to }: Order = {}): Promise<{ id: PayoutId; to: string }> {
    const recipient = to ?? this.newRecipient();
    const made = await requestPayout(this.ports, {
      account: this.account,
      requestId: 'req_test',
      key: undefined,
      asset,
      amount: units(amount),
      address: recipient,
      networkFee: units(FEE),
      minConfirmations: CONFIRMATIONS,
    });
    if (!made.ok) throw new Error(`not reserved: ${made.refusal}`);
    return { id: made.value, to: recipient };
  }

  newRecipient(): string {
    this.#recipients += 1;
    return `0x${'e0'.repeat(16)}${this.#recipients.toString(16).padStart(8, '0')}`;
  }

  /** A settled deposit, on the chain and recorded. */
  async deposit(index: number, asset: AssetSymbol, amount: bigint, address = depositAddress(index)) {
    this.chain.fund(asset, address, amount);
    const payload = this.depositPayload(index, asset, amount, address);
    await this.db.transaction((trx) => recordDeposits(trx, [{ payload }]));
    return payload;
  }

  depositPayload(index: number, asset: AssetSymbol, amount: bigint, address = depositAddress(index)) {
    return {
      deposit_id: newDepositId(new Date()) as string,
      account_id: this.account as string,
      invoice_id: 'inv_test',
      asset,
      amount: amount.toString(),
      address,
      derivation_index: index,
      outpoint: `0xcustomer:${this.#recipients}`,
      tx_hash: '0xcustomer',
      block_height: 1,
      block_hash: '0xblock',
      disposition: 'credit' as const,
    };
  }

  run(ports = this.ports): Promise<number> {
    return runChainWorker<'evm'>(ports, ports);
  }

  /** Runs rounds and mines blocks until everything has its confirmations. */
  async finish(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      await this.run();
      this.chain.mine(CONFIRMATIONS);
    }
    await this.run();
  }

  async payout(id: PayoutId): Promise<Record<string, unknown>> {
    return this.db.one('select * from payouts where id = $1', [id]);
  }

  transactions(): Promise<Record<string, unknown>[]> {
    return this.db.rows(
      `select transactions.*, payout_id from transactions left join payments using (replacement_group) order by id`,
    );
  }

  /** The kinds of the events about a payout, in order. */
  async published(id: PayoutId): Promise<string[]> {
    const rows = await this.db.rows<{ kind: string; payload: { fee_kept?: boolean } }>(
      `select kind, payload from outbox where payload->>'payout_id' = $1 or payload->>'resource_id' = $1 order by seq`,
      [id],
    );
    return rows.map(({ kind, payload }) => (payload.fee_kept === true ? `${kind}, fee kept` : kind));
  }

  /** What must be true after every test. */
  async expectSound(): Promise<void> {
    const payouts = await this.db.rows<{
      id: string;
      status: string;
      address: string;
      asset: string;
      amount: string;
    }>('select * from payouts');
    for (const { id, status, address, asset, amount } of payouts) {
      const shared = payouts.filter((other) => other.address === address && other.status === 'mined').length;
      const paid = this.chain.paymentsTo(address).filter((one) => one.asset === asset);
      if (status === 'mined') expect(paid).toHaveLength(shared);
      for (const one of paid) expect({ id, amount: one.amount }).toEqual({ id, amount: BigInt(amount) });
      if (['failed', 'refused', 'voided', 'requested', 'reserved'].includes(status)) expect(paid).toEqual([]);
    }
    const signed = await this.db.rows<{ wallet: string; nonces: string[] }>(
      'select wallet, array_agg(nonce::text) as nonces from transactions group by wallet',
    );
    for (const { wallet, nonces } of signed) {
      const used = new Set([...nonces.map(BigInt), ...this.chain.noncesUsedElsewhere(wallet)]);
      const ours = nonces.map(BigInt).sort((a, b) => (a < b ? -1 : 1));
      for (let nonce = ours[0] ?? 0n; nonce < (ours.at(-1) ?? 0n); nonce++) {
        expect({ wallet, nonce, used: used.has(nonce) }).toEqual({ wallet, nonce, used: true });
      }
    }
    // At most one attempt of a group is mined, and its fee is published once.
    const told = await this.db.rows<{ hash: string }>(
      `select payload->>'tx_hash' as hash from outbox where kind = 'network.spent' order by 1`,
    );
    const ended = await this.db.rows<{ hash: string }>(
      `select tx_hash as hash from transactions where state in ('mined', 'reverted') order by 1`,
    );
    expect(told).toEqual(ended);
    // Everything that a node has got was stored first.
    const stored = new Set((await this.transactions()).map((transaction) => transaction['raw']));
    for (const raw of this.chain.arrived) expect(stored).toContain(raw);
  }

  async close(): Promise<void> {
    await Promise.all([this.db.close(), this.admin.close()]);
  }
}

const placed = { known: true, reply: { outcome: 'placed' } };
