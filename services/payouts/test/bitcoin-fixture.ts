import { randomBytes } from 'node:crypto';
import { beforeEach, expect } from '@jest/globals';
import { createBitcoinReader } from '@quittance/chains/bitcoin/reader';
import { type BitcoinSender, createBitcoinSender } from '@quittance/chains/bitcoin/sender';
import { type BitcoinSigner, createBitcoinSigner } from '@quittance/chains/bitcoin/signer';
import type { SignedSpend } from '@quittance/chains/bitcoin/spend';
import { type BitcoinWallet, checkAddress, openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import type { Payment } from '@quittance/chains/chain';
import { connectRpc, type Rpc } from '@quittance/chains/json-rpc';
import type { BitcoindHandle } from '@quittance/engines/bitcoind';
import type { PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { payOnBitcoin } from '@quittance/stack/bitcoin';
import { type TestDatabase, testBitcoind } from '@quittance/testkit/engines';
import { scriptedSigner } from '@quittance/testkit/scripted-signer';
import { runChainWorker } from '../src/operations/run-chain-worker.ts';
import type { PayoutChain, Ports } from '../src/ports.ts';
import { ChainWorkerFixture, chainWorkerSuite, hasPaidNothing, TestClock } from './chain-worker-fixture.ts';
import type { DepositPayload } from './deposit-event.ts';
import { SEED } from './service-client.ts';

export const CONFIRMATIONS = 3;
export const BITCOIN = 100_000_000n;
/** Longer than payouts wait to share a transaction. */
const ROUND_MS = 3_000;
/** Longer than a node keeps a transaction that no block includes. */
const MEMPOOL_EXPIRES_S = 15 * 86_400;

const wallet = openBitcoinWallet('regtest', SEED);
const strangers = openBitcoinWallet('regtest', `${'abandon '.repeat(11)}about`);
/** All tests of a suite share a chain, so no address is used by two of them. */
let indexes = 0;

type BitcoinFixturePorts = Ports & PayoutChain<'bitcoin'>;
export type Deposit = { outpoint: string; index: number; amount: bigint; payload: DepositPayload };

/** The chain worker with its ports for one test: empty tables and a real node. */
export class BitcoinFixture extends ChainWorkerFixture {
  readonly node: BitcoindHandle;
  readonly wallet: BitcoinWallet = wallet;
  readonly sender: BitcoinSender;
  readonly keys: BitcoinSigner = createBitcoinSigner('regtest', wallet);
  readonly signer = scriptedSigner('bitcoin', this.keys);
  readonly ports: BitcoinFixturePorts;
  readonly #rpc: Rpc;
  #from = 0;

  private constructor(database: TestDatabase, node: BitcoindHandle) {
    // The database uses its own clock for payouts.
    super(database, new TestClock({ runs: true }));
    this.node = node;
    this.#rpc = connectRpc(node.rpcUrl);
    this.sender = this.recorded(
      createBitcoinSender({ rpc: this.#rpc, network: 'regtest', wallet: this.keys.addresses }),
    );
    this.ports = this.replica();
  }

  static async fresh(database: TestDatabase, node: BitcoindHandle): Promise<BitcoinFixture> {
    const fixture = new BitcoinFixture(database, node);
    await fixture.emptyTables();
    // Transactions of another test may still be in the mempool.
    await fixture.node.mine(1);
    fixture.#from = await fixture.height();
    return fixture;
  }

  replica(given: Partial<BitcoinFixturePorts> = {}): BitcoinFixturePorts {
    return {
      ...this.replicaPorts(),
      kind: 'bitcoin',
      chain: 'bitcoin',
      assets: ['BTC'],
      checkAddress: (text) => checkAddress('regtest', text),
      explorerUrl: (txHash) => `https://scan.example/tx/${txHash}`,
      sender: this.sender,
      signer: this.signer,
      signingPause: { reason: undefined },
      ...given,
    };
  }

  height(): Promise<number> {
    return this.node.rpc<number>('getblockcount');
  }

  /** A payment to a deposit address of ours in a block; recorded when `settled`. */
  async deposit(satoshi: bigint, { settled = true } = {}): Promise<Deposit> {
    const [deposit] = (await this.depositMany(1, satoshi, { settled })) as [Deposit];
    return deposit;
  }

  /** Deposits of the same amount, to addresses of their own, in one transaction. */
  async depositMany(count: number, satoshi: bigint, { settled = true } = {}): Promise<Deposit[]> {
    const first = indexes + 1;
    indexes += count;
    const to = Array.from({ length: count }, (_, i) => this.wallet.address('deposit', first + i));
    const payments = to.map((address) => ({ to: address, amount: satoshi }));
    const txHash = await payOnBitcoin({ rpc: this.node.rpcUrl }, payments);
    await this.node.mine(1);
    type Outputs = { vout: { n: number; scriptPubKey: { address?: string } }[] };
    const { vout } = await this.node.rpc<Outputs>('getrawtransaction', txHash, 1);
    const outputs = new Map(vout.map(({ n, scriptPubKey }) => [scriptPubKey.address, n]));
    const deposits = to.map((address, i) => {
      const place = { index: first + i, outpoint: `${txHash}:${outputs.get(address)}` };
      const payload = this.depositOf({ asset: 'BTC', amount: satoshi, address, ...place });
      return { ...place, amount: satoshi, payload };
    });
    if (settled) await this.settled(...deposits.map(({ payload }) => payload));
    return deposits;
  }

  newRecipient(): string {
    indexes += 1;
    return strangers.address('deposit', indexes);
  }

  /** A payout whose hold the ledger has placed. */
  async reserve(satoshi: bigint, to = this.newRecipient(), minConfirmations = CONFIRMATIONS) {
    const id = await this.request({
      asset: 'BTC',
      amount: satoshi,
      address: to,
      networkFee: 2_000n,
      minConfirmations,
    });
    return { id, to, amount: satoshi };
  }

  /** A payout of a quarter of a bitcoin that one round has sent, paid from a deposit of one. */
  async send(minConfirmations = CONFIRMATIONS) {
    const deposit = await this.deposit(BITCOIN);
    const payout = await this.reserve(BITCOIN / 4n, undefined, minConfirmations);
    await this.run();
    return { ...payout, deposit };
  }

  /** Signs with the key of a deposit address, as another party with the key could. */
  spendAll(
    { outpoint, index, amount }: Omit<Deposit, 'payload'>,
    to: string,
    fee: bigint,
  ): Promise<SignedSpend> {
    return this.keys.signSpend({
      utxos: [{ outpoint, branch: 'deposit', index, amount: units(amount) }],
      recipients: [{ to, amount: units(amount - fee) }],
      change: null,
      fee: units(fee),
    });
  }

  /** Mines a block with these transactions and nothing else. */
  async mineOnly(raw: readonly string[]): Promise<void> {
    await this.node.rpc('generateblock', `raw(6a08${randomBytes(8).toString('hex')})`, raw);
  }

  /** Everything in the mempool expires. The node removes what expired when a block leaves the chain. */
  async loseMempool(): Promise<void> {
    const newest = await this.node.rpc('getbestblockhash');
    await this.node.rpc('setmocktime', Math.ceil(Date.now() / 1_000) + MEMPOOL_EXPIRES_S);
    await this.node.rpc('invalidateblock', newest);
    await this.node.rpc('reconsiderblock', newest);
    await this.node.rpc('setmocktime', 0);
    expect(await this.node.rpc('getrawmempool')).toEqual([]);
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

  /** Finishes, and then these payouts are paid. */
  async expectPaid(...payouts: { id: PayoutId }[]): Promise<void> {
    await this.finish();
    expect(await this.statusesOf(...payouts)).toEqual(payouts.map(() => 'mined'));
  }

  transactions(): Promise<
    (Record<'id' | 'replacement_group' | 'purpose' | 'tx_hash' | 'raw' | 'state', string> & {
      attempt: number;
    })[]
  > {
    return this.db.rows('select * from transactions order by id');
  }

  utxos(): Promise<
    { outpoint: string; branch: string; state: string; amount: string; reversed_at: Date | null }[]
  > {
    return this.db.rows('select * from utxos order by created_at, outpoint');
  }

  /** All payments to an address since the test began. */
  async paidTo(address: string): Promise<Payment[]> {
    const reader = createBitcoinReader({ rpc: this.#rpc, network: 'regtest' });
    const blocks = await reader.blocksAfter(this.#from, 1_000);
    return blocks.flatMap((block) => block.payments.filter((payment) => payment.address === address));
  }

  /** What must be true after every test. */
  async expectSound(): Promise<void> {
    const payouts = await this.db.rows<
      Record<'id' | 'status' | 'address' | 'amount', string> & { tx_hash: string | null }
    >('select * from payouts');
    for (const { id, status, address, amount, tx_hash } of payouts) {
      const paid = (await this.paidTo(address)).map((one) => ({ amount: one.amount, txHash: one.txHash }));
      if (status === 'mined')
        expect({ id, paid }).toEqual({ id, paid: [{ amount: BigInt(amount), txHash: tx_hash }] });
      if (hasPaidNothing(status)) expect({ id, paid }).toEqual({ id, paid: [] });
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

  override async close(): Promise<void> {
    await this.#rpc.close();
    await super.close();
  }
}

/** The fixture of a suite, which is a new one in every test; all share a node. */
export function bitcoinSuite(): BitcoinFixture {
  const { fixture, begin } = chainWorkerSuite(testBitcoind, BitcoinFixture.fresh);
  beforeEach(() => begin());
  return fixture;
}
