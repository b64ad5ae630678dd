import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { createBitcoinReader } from '@quittance/chains/bitcoin/reader';
import { type BitcoinSender, createBitcoinSender } from '@quittance/chains/bitcoin/sender';
import { type BitcoinWallet, checkAddress, openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import type { Broadcast, Payment } from '@quittance/chains/chain';
import { connectRpc, type Rpc } from '@quittance/chains/json-rpc';
import { type BitcoindHandle, startBitcoind } from '@quittance/engines/bitcoind';
import type { Bus } from '@quittance/shared/bus';
import { type Db, openDb } from '@quittance/shared/db';
import { type AccountId, newAccountId, newDepositId, type PayoutId } from '@quittance/shared/ids';
import { createLogger, type Logger, throttledLog } from '@quittance/shared/logger';
import { formatUnits, units } from '@quittance/shared/money';
import { Secret } from '@quittance/shared/secret';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { recordDeposits, reverseDeposits } from '../src/operations/record-deposits.ts';
import { requestPayout } from '../src/operations/request-payout.ts';
import { runChainWorker } from '../src/operations/run-chain-worker.ts';
import type { PayoutChain, Ports } from '../src/ports.ts';
import { SEED } from './service-client.ts';

export const CONFIRMATIONS = 3;
export const BITCOIN = 100_000_000n;
/** Longer than payouts wait to share a transaction. */
const ROUND_MS = 3_000;

const wallet = openBitcoinWallet('regtest', SEED);
const strangers = openBitcoinWallet(
  'regtest',
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
);
/** All tests of a suite share a chain, so no address is used by two of them. */
let indexes = 0;

/** The real clock plus an offset, because the database uses its own clock for payouts. */
class TestClock {
  #ahead = 0;
  now(): Date {
    return new Date(Date.now() + this.#ahead);
  }
  advance(ms: number): void {
    this.#ahead += ms;
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

/** A node and a database for a suite. */
export type BitcoinEngines = { node: BitcoindHandle; database: TestDatabase; stop(): Promise<void> };

export async function bitcoinEngines(): Promise<BitcoinEngines> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quittance-bitcoin-'));
  const [node, database] = await Promise.all([startBitcoind({ dataDir, port: 0 }), testDatabase()]);
  return {
    node,
    database,
    stop: async () => {
      await node.stop();
      rmSync(dataDir, { recursive: true, force: true });
      await database.drop();
    },
  };
}

export type BitcoinFixturePorts = Ports & PayoutChain<'bitcoin'>;
export type Deposit = { outpoint: string; index: number; amount: bigint; payload: DepositPayload };
type DepositPayload = Parameters<typeof recordDeposits>[1][number]['payload'];

/** The chain worker with its ports for one test: empty tables and a real node. */
export class BitcoinFixture {
  readonly node: BitcoindHandle;
  readonly db: Db;
  /** A superuser's connection, for what the service's own role may not do. */
  readonly admin: Db;
  readonly clock = new TestClock();
  readonly lines: Line[] = [];
  readonly account: AccountId = newAccountId(new Date());
  readonly wallet: BitcoinWallet = wallet;
  readonly sender: BitcoinSender;
  readonly ports: BitcoinFixturePorts;
  /** The transactions that were sent to the node, in order. */
  readonly sent: string[] = [];
  /** Replaces the broadcast, when a test wants a fault. */
  onBroadcast: (raw: string, send: () => Promise<Broadcast>) => Promise<Broadcast> = (_raw, send) => send();
  readonly #rpc: Rpc;
  #from = 0;

  private constructor({ node, database }: BitcoinEngines) {
    this.node = node;
    const logger = keepingLogger(this.lines);
    this.db = openDb({ url: database.urlOf('payouts'), schema: 'payouts', pool: 4, logger });
    this.admin = openDb({ url: database.adminUrl, schema: 'payouts', pool: 1, logger });
    this.#rpc = connectRpc(node.rpcUrl);
    const real = createBitcoinSender({ rpc: this.#rpc, network: 'regtest', wallet: this.wallet });
    this.sender = {
      ...real,
      broadcast: async (raw) => {
        this.sent.push(raw);
        return this.onBroadcast(raw, () => real.broadcast(raw));
      },
    };
    this.ports = this.replica();
  }

  static async fresh(engines: BitcoinEngines): Promise<BitcoinFixture> {
    const fixture = new BitcoinFixture(engines);
    const tables = [
      'utxos',
      'hot_address_cursors',
      'unswept_deposits',
      'payments',
      'transactions',
      'wallets',
      'payouts',
    ];
    for (const table of [...tables, 'leases', 'outbox']) await fixture.admin.rows(`delete from ${table}`);
    // Transactions of another test may still be in the mempool.
    await fixture.node.mine(1);
    fixture.#from = await fixture.height();
    return fixture;
  }

  replica(given: Partial<BitcoinFixturePorts> = {}): BitcoinFixturePorts {
    const logger = keepingLogger(this.lines);
    return {
      kind: 'bitcoin',
      chain: 'bitcoin',
      assets: ['BTC'],
      checkAddress: (text) => checkAddress('regtest', text),
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
        gracePeriods: { resendAfterMs: 5_000, doubtForMs: 30_000, stuckAfterMs: 180_000 },
      },
      wakeRelay: () => {},
      ...given,
    };
  }

  height(): Promise<number> {
    return this.node.rpc<number>('getblockcount');
  }

  /** A payment to a deposit address of ours in a block; recorded when `settled`. */
  async deposit(satoshi: bigint, { settled = true } = {}): Promise<Deposit> {
    indexes += 1;
    const index = indexes;
    const address = this.wallet.address('deposit', index);
    const txHash = await this.node.pay(address, formatUnits(units(satoshi), 8));
    await this.node.mine(1);
    const outpoint = await this.outpointOf(txHash, address);
    const payload = this.#payload({ address, index, satoshi, outpoint });
    if (settled) await this.settled(payload);
    return { outpoint, index, amount: satoshi, payload };
  }

  /** Many deposits of the same amount, to addresses of their own, in one transaction. */
  async depositMany(count: number, satoshi: bigint): Promise<void> {
    const first = indexes + 1;
    indexes += count;
    const addresses = Array.from({ length: count }, (_, i) => this.wallet.address('deposit', first + i));
    const amount = formatUnits(units(satoshi), 8);
    const url = new URL(this.node.rpcUrl);
    url.pathname = '/wallet/faucet';
    const faucet = connectRpc(url.href);
    const outputs = Object.fromEntries(addresses.map((address) => [address, amount]));
    const txHash = (await faucet.call('sendmany', ['', outputs])) as string;
    await faucet.close();
    await this.node.mine(1);
    type Output = { n: number; scriptPubKey: { address?: string } };
    const { vout } = await this.node.rpc<{ vout: Output[] }>('getrawtransaction', txHash, 1);
    const placeOf = new Map(vout.map(({ n, scriptPubKey }) => [scriptPubKey.address, n]));
    const payloads = addresses.map((address, i) =>
      this.#payload({ address, index: first + i, satoshi, outpoint: `${txHash}:${placeOf.get(address)}` }),
    );
    await this.db.transaction((trx) =>
      recordDeposits(
        trx,
        payloads.map((payload) => ({ payload })),
      ),
    );
  }

  #payload({
    address,
    index,
    satoshi,
    outpoint,
  }: {
    address: string;
    index: number;
    satoshi: bigint;
    outpoint: string;
  }): DepositPayload {
    return {
      deposit_id: newDepositId(new Date()),
      account_id: this.account,
      invoice_id: 'inv_test',
      asset: 'BTC',
      amount: satoshi.toString(),
      address,
      derivation_index: index,
      outpoint,
      tx_hash: outpoint.split(':')[0] ?? null,
      block_height: 1,
      block_hash: 'block',
      disposition: 'credit',
    };
  }

  async settled(payload: DepositPayload): Promise<void> {
    await this.db.transaction((trx) => recordDeposits(trx, [{ payload }]));
  }

  async reversed({ disposition, ...payload }: DepositPayload): Promise<void> {
    expect(disposition).toBeDefined();
    await this.db.transaction((trx) => reverseDeposits(trx, [{ payload }]));
  }

  async outpointOf(txHash: string, address: string): Promise<string> {
    type Output = { n: number; scriptPubKey: { address?: string } };
    const { vout } = await this.node.rpc<{ vout: Output[] }>('getrawtransaction', txHash, 1);
    const output = vout.find(({ scriptPubKey }) => scriptPubKey.address === address);
    return `${txHash}:${output?.n}`;
  }

  newRecipient(): string {
    indexes += 1;
    return strangers.address('deposit', indexes);
  }

  /** A payout whose hold the ledger has placed. */
  async reserve(satoshi: bigint, to = this.newRecipient(), minConfirmations = CONFIRMATIONS) {
    const made = await requestPayout(this.ports, {
      account: this.account,
      requestId: 'req_test',
      key: undefined,
      asset: 'BTC',
      amount: units(satoshi),
      address: to,
      networkFee: units(2_000n),
      minConfirmations,
    });
    if (!made.ok) throw new Error(`not reserved: ${made.refusal}`);
    return { id: made.value, to, amount: satoshi };
  }

  run(ports = this.ports): Promise<number> {
    this.clock.advance(ROUND_MS);
    return runChainWorker<'bitcoin'>(ports, ports);
  }

  /** Runs rounds and mines blocks until everything has its confirmations. */
  async finish(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      await this.run();
      await this.run();
      await this.node.mine(CONFIRMATIONS);
    }
    await this.run();
  }

  async payout(id: PayoutId): Promise<Record<string, unknown>> {
    return this.db.one('select * from payouts where id = $1', [id]);
  }

  async statusOf({ id }: { id: PayoutId }): Promise<unknown> {
    return (await this.payout(id))['status'];
  }

  transactions(): Promise<
    {
      id: string;
      replacement_group: string;
      attempt: number;
      purpose: string;
      tx_hash: string;
      raw: string;
      state: string;
    }[]
  > {
    return this.db.rows('select * from transactions order by id');
  }

  utxos(): Promise<
    { outpoint: string; branch: string; state: string; amount: string; reversed_at: Date | null }[]
  > {
    return this.db.rows('select * from utxos order by created_at, outpoint');
  }

  /** The kinds of the events about a payout, in order. */
  async published({ id }: { id: PayoutId }): Promise<string[]> {
    const rows = await this.db.rows<{ kind: string }>(
      `select kind from outbox where payload->>'payout_id' = $1 or payload->>'resource_id' = $1 order by seq`,
      [id],
    );
    return rows.map(({ kind }) => kind);
  }

  /** The published network fees. */
  spent(): Promise<{ tx_hash: string; amount: string }[]> {
    return this.db.rows(
      `select payload->>'tx_hash' as tx_hash, payload->>'amount' as amount from outbox
       where kind = 'network.spent' order by seq`,
    );
  }

  /** All payments to an address since the test began. */
  async paidTo(address: string): Promise<Payment[]> {
    const reader = createBitcoinReader({ rpc: this.#rpc, network: 'regtest' });
    const blocks = await reader.blocksAfter(this.#from, 1_000);
    return blocks.flatMap((block) => block.payments.filter((payment) => payment.address === address));
  }

  /** What must be true after every test. */
  async expectSound(): Promise<void> {
    const payouts = await this.db.rows<{
      id: string;
      status: string;
      address: string;
      amount: string;
      tx_hash: string | null;
    }>('select * from payouts');
    for (const { id, status, address, amount, tx_hash } of payouts) {
      const paid = (await this.paidTo(address)).map((one) => ({ amount: one.amount, txHash: one.txHash }));
      if (status === 'mined')
        expect({ id, paid }).toEqual({ id, paid: [{ amount: BigInt(amount), txHash: tx_hash }] });
      if (['failed', 'refused', 'voided', 'requested', 'reserved'].includes(status)) {
        expect({ id, paid }).toEqual({ id, paid: [] });
      }
    }
    const stored = new Set((await this.transactions()).map(({ raw }) => raw));
    for (const raw of this.sent) expect(stored).toContain(raw);
    await this.#expectSpentOnce();
    await this.#expectUtxosOnChain();
  }

  /** Two groups never spend the same UTXO, and all attempts of one spend those of its first. */
  async #expectSpentOnce(): Promise<void> {
    const rows = await this.db.rows<{
      replacement_group: string;
      attempt: number;
      terms: { utxos: { outpoint: string }[] };
    }>(
      `select replacement_group, attempt, terms from transactions 
       where replacement_group not in (
         select replacement_group from transactions where state = 'invalidated'
         except select replacement_group from transactions where state <> 'invalidated') order by id`,
    );
    const owner = new Map<string, string>();
    const first = new Map<string, string[]>();
    for (const { replacement_group, attempt, terms } of rows) {
      const outpoints = terms.utxos.map(({ outpoint }) => outpoint);
      if (attempt === 1) first.set(replacement_group, outpoints);
      expect(outpoints).toEqual(expect.arrayContaining(first.get(replacement_group) ?? []));
      for (const outpoint of outpoints) {
        expect({ outpoint, replacement_group: owner.get(outpoint) ?? replacement_group }).toEqual({
          outpoint,
          replacement_group,
        });
        owner.set(outpoint, replacement_group);
      }
    }
  }

  /** UTXOs that are available in the database are unspent in the chain, with the same amount. */
  async #expectUtxosOnChain(): Promise<void> {
    const free = (await this.utxos()).filter(
      (utxo) => utxo.state === 'available' && utxo.reversed_at === null,
    );
    const found = await this.sender.unspent(free.map(({ outpoint }) => outpoint));
    expect(found.map((one) => one?.amount)).toEqual(free.map(({ amount }) => BigInt(amount)));
  }

  async close(): Promise<void> {
    await this.#rpc.close();
    await Promise.all([this.db.close(), this.admin.close()]);
  }
}

const placed = { known: true, reply: { outcome: 'placed' } };
