import { beforeEach, expect } from '@jest/globals';
import type { EvmSender } from '@quittance/chains/chain';
import { checkAddress } from '@quittance/chains/evm/wallet';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { PayoutId } from '@quittance/shared/ids';
import type { TestDatabase } from '@quittance/testkit/engines';
import { depositAddress, evmSigner, HOT } from '@quittance/testkit/scripted-evm-sender';
import { scriptedSigner } from '@quittance/testkit/scripted-signer';
import { requestCancellation } from '../src/operations/request-cancellation.ts';
import { runChainWorker } from '../src/operations/run-chain-worker.ts';
import type { PayoutChain, Ports } from '../src/ports.ts';
import { ChainWorkerFixture, chainWorkerSuite, hasPaidNothing, TestClock } from './chain-worker-fixture.ts';
import { ScriptedChain } from './scripted-chain.ts';

export const CONFIRMATIONS = 3;
export const ETHER = 10n ** 18n;
const FEE = 10n ** 15n;

type Order = { asset?: AssetSymbol; amount?: bigint; to?: string };

/** The ports of one replica with its one chain. */
type FixturePorts = Ports & PayoutChain<'evm'>;

/** The chain worker with its ports for one test, on a scripted chain. */
export class EngineFixture extends ChainWorkerFixture {
  readonly chain = new ScriptedChain();
  readonly signer = scriptedSigner('evm', evmSigner);
  readonly ports: FixturePorts;
  #recipients = 0;

  constructor(database: TestDatabase) {
    super(database, new TestClock({ runs: false }));
    this.ports = this.replica();
  }

  /** A fixture with empty tables and this much Ether in the hot wallet. */
  static async fresh(database: TestDatabase, ether = 0n): Promise<EngineFixture> {
    const fixture = new EngineFixture(database);
    await fixture.emptyTables();
    if (ether > 0n) fixture.chain.fund('ETH', HOT, ether * ETHER);
    return fixture;
  }

  /** The ports of one more replica with the same database and chain. */
  replica(given: Partial<FixturePorts> = {}): FixturePorts {
    return {
      ...this.replicaPorts(),
      kind: 'evm',
      chain: 'ethereum',
      assets: ['ETH', 'USDC_ERC20'],
      checkAddress,
      explorerUrl: (txHash) => `https://scan.example/tx/${txHash}`,
      sender: this.chain.sender,
      signer: this.signer,
      signingPause: { reason: undefined },
      ...given,
    };
  }

  /** The ports of one more replica, whose sender differs. */
  replicaWith(sender: Partial<EvmSender>): FixturePorts {
    return this.replica({ sender: { ...this.chain.sender, ...sender } });
  }

  /** A payout whose hold the ledger has placed. */
  async reserve({ asset = 'ETH', amount = ETHER, to = this.newRecipient() }: Order = {}) {
    const id = await this.request({
      asset,
      amount,
      address: to,
      networkFee: FEE,
      minConfirmations: CONFIRMATIONS,
    });
    return { id, to };
  }

  /** A payout that one round has sent. */
  async send(order: Order = {}) {
    const payout = await this.reserve(order);
    await this.run();
    return payout;
  }

  newRecipient(): string {
    this.#recipients += 1;
    return `0x${'e0'.repeat(16)}${this.#recipients.toString(16).padStart(8, '0')}`;
  }

  /** A settled deposit, on the chain and recorded. */
  async deposit(index: number, asset: AssetSymbol, amount: bigint, address = depositAddress(index)) {
    this.chain.fund(asset, address, amount);
    const payload = this.depositPayload(index, asset, amount, address);
    await this.settled(payload);
    return payload;
  }

  /** Many deposits of Ether, to addresses of their own. */
  async depositMany(first: number, count: number, amount: bigint): Promise<void> {
    const payloads = Array.from({ length: count }, (_, i) => {
      this.chain.fund('ETH', depositAddress(first + i), amount);
      return this.depositPayload(first + i, 'ETH', amount);
    });
    await this.settled(...payloads);
  }

  depositPayload(index: number, asset: AssetSymbol, amount: bigint, address = depositAddress(index)) {
    const outpoint = `0xcustomer:${this.#recipients}`;
    return this.depositOf({ asset, amount, address, index, outpoint });
  }

  run(ports = this.ports): Promise<number> {
    return runChainWorker<'evm'>(ports, ports);
  }

  /** A round of another replica, whose sender differs. It gets the lease, and leaves it to the next replica. */
  async runWith(sender: Partial<EvmSender>): Promise<number> {
    await this.freeLease();
    const moved = await this.run(this.replicaWith(sender));
    await this.freeLease();
    return moved;
  }

  /** Runs rounds, and time passes after each. */
  async rounds(count: number, pauseMs: number, ports = this.ports): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.run(ports);
      this.clock.advance(pauseMs);
    }
  }

  /** Runs rounds and mines blocks until everything has its confirmations. */
  async finish(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      await this.run();
      this.chain.mine(CONFIRMATIONS);
    }
    await this.run();
  }

  /** A merchant's request. In each of its pauses the worker has `rounds` rounds. */
  async cancel(payout: { id: PayoutId }, rounds = 1) {
    const sleep = async () => {
      for (let round = 0; round < rounds; round++) await this.run();
    };
    const ports = { db: this.db, clock: { now: () => this.clock.now(), sleep } };
    return (await requestCancellation(ports, { count: 0 }, payout)).outcome;
  }

  /** Finishes, and then these payouts are paid. */
  async expectPaid(...payouts: { id: PayoutId }[]): Promise<void> {
    await this.finish();
    expect(await this.statusesOf(...payouts)).toEqual(payouts.map(() => 'mined'));
  }

  transactions(): Promise<Record<string, unknown>[]> {
    return this.db.rows(
      `select transactions.*, payout_id from transactions left join payments using (replacement_group) order by id`,
    );
  }

  /** The next time two orders are to be signed, the first is, and the second is refused. */
  refusedAfterTheFirst(because: string, againAfterMs: number): void {
    const refused = { because, payouts: [], foreign: [], again_after_ms: againAfterMs };
    this.signer.before = async (request) => {
      this.signer.before = async () => undefined;
      expect(request.orders).toHaveLength(2);
      const answer = await this.signer.sign({ ...request, orders: request.orders.slice(0, 1) });
      return answer.known ? { ...answer, reply: { ...answer.reply, refused } } : answer;
    };
  }

  /** What must be true after every test. */
  async expectSound(): Promise<void> {
    const payouts =
      await this.db.rows<Record<'id' | 'status' | 'address' | 'asset' | 'amount', string>>(
        'select * from payouts',
      );
    for (const { id, status, address, asset, amount } of payouts) {
      const shared = payouts.filter((other) => other.address === address && other.status === 'mined').length;
      const paid = this.chain.paymentsTo(address).filter((one) => one.asset === asset);
      if (status === 'mined') expect(paid).toHaveLength(shared);
      for (const one of paid) expect({ id, amount: one.amount }).toEqual({ id, amount: BigInt(amount) });
      if (hasPaidNothing(status)) expect(paid).toEqual([]);
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
}

/** The fixture of a suite, which is a new one in every test, with this much Ether in the hot wallet. */
export function engineSuite(ether = 0n): EngineFixture {
  const { fixture, begin } = chainWorkerSuite(
    async () => undefined,
    (database) => EngineFixture.fresh(database, ether),
  );
  beforeEach(() => begin());
  return fixture;
}
