import { createHash } from 'node:crypto';
import type { EvmFees, EvmSender, SignedTransaction } from '@quittance/chains/chain';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';

/**
 * What happens to the next broadcasts. `lose_answer`: the node accepts it and its answer is lost. `lose_bytes`: the
 * bytes are lost. `reject`: the node refuses it.
 */
export type BroadcastFate = 'accept' | 'lose_answer' | 'lose_bytes' | 'reject';

type Wire = {
  from: string;
  nonce: number;
  asset: AssetSymbol;
  /** Where the money comes from: `from`, except for a token sweep. */
  source: string;
  to: string;
  amount: string;
  maxCost: string;
  /** The offered fee per unit of gas. */
  fee: string;
};
type Mined = { hash: string; wire: Wire; succeeded: boolean };
type Block = { hash: string; transactions: Mined[] };

export const HOT = `0x${'a0'.repeat(20)}`;
export const depositAddress = (index: number): string =>
  `0x${'d0'.repeat(16)}${index.toString(16).padStart(8, '0')}`;
export const MAX_FEE = 10n;
const ELSEWHERE = '0xelsewhere';

/** A chain with its node in memory, which a test controls. */
export class ScriptedChain {
  readonly blocks: Block[] = [{ hash: 'genesis', transactions: [] }];
  /** All bytes that ever reached the node. */
  readonly arrived: string[] = [];
  /** Recipients that refuse payments, when they are mined and when they are estimated. */
  readonly refusing = new Set<string>();
  /** Recipients of these whose refusal an estimate does not show. */
  readonly unforeseen = new Set<string>();
  /** What happens to the next broadcasts. After them all are accepted. */
  readonly fates: BroadcastFate[] = [];
  /** The node has blocks, but no receipts and no index of transactions. */
  hasNoReceipts = false;
  /** Heights whose blocks the node does not have. */
  readonly missingBlocks = new Set<number>();
  /** How many blocks were searched for a nonce. */
  searched = 0;
  finalizedLag = 4;
  /** The least fee that blocks accept and that the node recommends. */
  leastFee = MAX_FEE;
  #pool = new Map<string, Wire>();
  readonly #genesis = new Map<string, bigint>();
  #made = 0;

  readonly sender: EvmSender = {
    chain: 'ethereum',
    hotAddress: HOT,
    depositAddress,
    check: async () => {},
    balance: async (asset, address) => units(this.balance(asset, address)),
    estimatedFee: async () => units(21_000n * MAX_FEE),
    close: async () => {},
    fees: async () => ({ maxFeePerGas: this.leastFee, maxPriorityFeePerGas: 1n }),
    estimateTransfer: async (asset, to, amount) => {
      if (this.balance(asset, HOT) < amount)
        throw new Error(`the hot wallet has less ${asset} than it is to send`);
      if (this.refusing.has(to) && !this.unforeseen.has(to)) return 'reverts';
      return assets[asset].type === 'native' ? 21_000n : 65_000n;
    },
    signTransfer: async ({ asset, to, amount, nonce, gas, fees }) =>
      signed({ from: HOT, nonce, asset, source: HOT, to, amount: `${amount}`, ...cost(gas, fees) }),
    signNativeSweep: async ({ index, balance, nonce, fees }) => {
      const { maxCost, fee } = cost(21_000n, fees);
      const maxFee = BigInt(maxCost);
      if (balance <= 2n * maxFee) return 'not_worth_it';
      const from = depositAddress(index);
      const amount = `${balance - maxFee}`;
      return signed({ from, nonce, asset: 'ETH', source: from, to: HOT, amount, maxCost, fee });
    },
    signTokenSweep: async ({ asset, index, amount, nonce, gas, fees }) => {
      const source = depositAddress(index);
      return signed({ from: HOT, nonce, asset, source, to: HOT, amount: `${amount}`, ...cost(gas, fees) });
    },
    broadcast: async (raw) => this.#take(raw),
    status: async (txHash) => {
      const height = this.blocks.findIndex((block) => block.transactions.some((one) => one.hash === txHash));
      const block = this.blocks[height];
      const mined = block?.transactions.find((one) => one.hash === txHash);
      if (block === undefined || mined === undefined || this.hasNoReceipts) {
        return { state: this.#pool.has(txHash) ? 'pending' : 'absent' };
      }
      return {
        state: 'mined',
        height,
        blockHash: block.hash,
        confirmations: this.blocks.length - height,
        succeeded: mined.succeeded,
        feePaid: units(mined.wire.maxCost),
      };
    },
    nonce: async (address, at) => {
      if (at === 'pending') {
        const waiting = [...this.#pool.values()].filter(({ from }) => from === address);
        return Math.max(this.#nonce(address, this.blocks.length), ...waiting.map(({ nonce }) => nonce + 1));
      }
      return this.#nonce(
        address,
        at === 'latest' ? this.blocks.length : this.blocks.length - this.finalizedLag,
      );
    },
    finalizedHeight: async () => Math.max(0, this.blocks.length - 1 - this.finalizedLag),
    findByNonce: async (address, nonce, from, to) => {
      for (let height = from; height <= to; height++) {
        const block = this.blocks[height];
        if (block === undefined || this.missingBlocks.has(height)) throw new Error(`no block ${height}`);
        this.searched += 1;
        const found = block.transactions.find(({ wire }) => wire.from === address && wire.nonce === nonce);
        if (found !== undefined) return { txHash: found.hash, height, blockHash: block.hash };
      }
      return undefined;
    },
  };

  /** Money that was there before the test began. */
  fund(asset: AssetSymbol, address: string, amount: bigint): void {
    const key = `${asset} ${address}`;
    this.#genesis.set(key, (this.#genesis.get(key) ?? 0n) + amount);
  }

  balance(asset: AssetSymbol, address: string): bigint {
    let balance = this.#genesis.get(`${asset} ${address}`) ?? 0n;
    for (const { wire, succeeded } of this.blocks.flatMap((block) => block.transactions)) {
      if (asset === 'ETH' && wire.from === address) balance -= BigInt(wire.maxCost);
      if (!succeeded || wire.asset !== asset) continue;
      if (wire.source === address) balance -= BigInt(wire.amount);
      if (wire.to === address) balance += BigInt(wire.amount);
    }
    return balance;
  }

  /** Successful payments to an address in the current chain. */
  paymentsTo(address: string): { asset: AssetSymbol; amount: bigint }[] {
    return this.blocks
      .flatMap((block) => block.transactions)
      .filter(({ wire, succeeded }) => succeeded && wire.to === address)
      .map(({ wire }) => ({ asset: wire.asset, amount: BigInt(wire.amount) }));
  }

  /** The first block includes what can be mined from the mempool, the others are empty. */
  mine(blocks = 1): void {
    for (let i = 0; i < blocks; i++) {
      const block: Block = { hash: this.#blockHash(), transactions: [] };
      this.blocks.push(block);
      if (i > 0) continue;
      for (let progress = true; progress; ) {
        progress = false;
        for (const [hash, wire] of this.#pool) {
          if (wire.nonce !== this.#nonce(wire.from, this.blocks.length) || !this.#canPay(wire)) continue;
          if (BigInt(wire.fee) < this.leastFee) continue;
          const succeeded = this.#succeeds(wire);
          block.transactions.push({ hash, wire, succeeded });
          this.#pool.delete(hash);
          progress = true;
        }
      }
    }
  }

  /** Replaces the newest blocks by empty ones, one more than before. Their transactions are dropped, or pending again. */
  reorg(depth: number, held: 'gone' | 'pending' = 'gone'): void {
    const dropped = this.blocks.splice(this.blocks.length - depth, depth);
    for (const { hash, wire } of dropped.flatMap((block) => block.transactions)) {
      if (held === 'pending') this.#pool.set(hash, wire);
    }
    for (let i = 0; i <= depth; i++) this.blocks.push({ hash: this.#blockHash(), transactions: [] });
  }

  /** The node restarts and has lost its mempool. */
  forgetPool(): void {
    this.#pool = new Map();
  }

  /** Whether the next block could include these bytes, whatever fee they offer. */
  canMine(raw: string): boolean {
    const wire = JSON.parse(raw) as Wire;
    return wire.nonce === this.#nonce(wire.from, this.blocks.length) && this.#canPay(wire);
  }

  /** A miner includes older bytes although they were replaced. */
  mineBytes(raw: string): void {
    const wire = JSON.parse(raw) as Wire;
    for (const [hash, one] of this.#pool) {
      if (one.from === wire.from && one.nonce === wire.nonce) this.#pool.delete(hash);
    }
    const succeeded = this.#succeeds(wire);
    const transactions = [{ hash: hashOf(raw), wire, succeeded }];
    this.blocks.push({ hash: this.#blockHash(), transactions });
  }

  get pending(): number {
    return this.#pool.size;
  }

  /** Another party with the key uses a wallet's next nonce in a new block. */
  useNonce(from: string): void {
    const nonce = this.#nonce(from, this.blocks.length);
    const nothing = { amount: '0', maxCost: '0', fee: '0' };
    const wire: Wire = { from, nonce, asset: 'ETH', source: from, to: ELSEWHERE, ...nothing };
    const transactions = [{ hash: signed(wire).txHash, wire, succeeded: true }];
    this.blocks.push({ hash: this.#blockHash(), transactions });
    for (const [hash, pending] of this.#pool) {
      if (pending.from === from && pending.nonce === nonce) this.#pool.delete(hash);
    }
  }

  noncesUsedElsewhere(wallet: string): bigint[] {
    return this.blocks
      .flatMap((block) => block.transactions)
      .filter(({ wire }) => wire.from === wallet && wire.to === ELSEWHERE)
      .map(({ wire }) => BigInt(wire.nonce));
  }

  #take(raw: string): 'accepted' | 'rejected' | 'unknown' {
    const fate = this.fates.shift() ?? 'accept';
    if (fate === 'lose_bytes') return 'unknown';
    this.arrived.push(raw);
    if (fate === 'reject') return 'rejected';
    const wire = JSON.parse(raw) as Wire;
    const hash = hashOf(raw);
    const isMined = this.blocks.some((block) => block.transactions.some((one) => one.hash === hash));
    if (!isMined && !this.#pool.has(hash)) {
      const isUsed = wire.nonce < this.#nonce(wire.from, this.blocks.length);
      const taken = [...this.#pool].find(([, one]) => one.from === wire.from && one.nonce === wire.nonce);
      // Nodes accept a replacement only with a fee that is a tenth higher.
      const isTooLow = taken !== undefined && BigInt(wire.fee) * 10n < BigInt(taken[1].fee) * 11n;
      if (isUsed || isTooLow) return 'rejected';
      if (taken !== undefined) this.#pool.delete(taken[0]);
      this.#pool.set(hash, wire);
    }
    return fate === 'lose_answer' ? 'unknown' : 'accepted';
  }

  #succeeds({ to, asset, source, amount }: Wire): boolean {
    return !this.refusing.has(to) && this.balance(asset, source) >= BigInt(amount);
  }

  #canPay({ from, asset, source, amount, maxCost }: Wire): boolean {
    const value = asset === 'ETH' && source === from ? BigInt(amount) : 0n;
    return this.balance('ETH', from) >= value + BigInt(maxCost);
  }

  #nonce(address: string, blocks: number): number {
    return this.blocks
      .slice(0, Math.max(0, blocks))
      .flatMap((block) => block.transactions)
      .filter(({ wire }) => wire.from === address).length;
  }

  #blockHash(): string {
    this.#made += 1;
    return `block ${this.#made}`;
  }
}

const cost = (gas: bigint, { maxFeePerGas }: EvmFees) => ({
  maxCost: `${gas * maxFeePerGas}`,
  fee: `${maxFeePerGas}`,
});
const hashOf = (raw: string): string => `0x${createHash('sha256').update(raw).digest('hex')}`;

function signed(wire: Wire): SignedTransaction {
  const raw = JSON.stringify(wire);
  return { raw, txHash: hashOf(raw), maxCost: units(wire.maxCost) as Units };
}

/** A sender whose calls to the node go through `around`. */
export function intercepted(
  sender: EvmSender,
  around: (call: () => Promise<unknown>) => Promise<unknown>,
): EvmSender {
  type Call = (...given: unknown[]) => Promise<unknown>;
  const wrapped = Object.entries(sender).map(([name, value]) => {
    const isCall = typeof value === 'function' && name !== 'depositAddress';
    return [name, isCall ? (...given: unknown[]) => around(() => (value as Call)(...given)) : value];
  });
  return Object.fromEntries(wrapped);
}
