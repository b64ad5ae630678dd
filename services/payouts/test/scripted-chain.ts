import type { Broadcast, EvmSender } from '@quittance/chains/chain';
import type { AssetSymbol } from '@quittance/shared/assets';
import {
  addToPool,
  evmSender,
  type Mined,
  type MinedBlock,
  parse,
  signed,
  type Transaction,
} from '@quittance/testkit/scripted-evm-sender';

/**
 * What happens to the next broadcasts. `lose_answer`: the node accepts it and its answer is lost. `lose_bytes`: the
 * bytes are lost. `reject`: the node refuses it.
 */
export type BroadcastFate = 'accept' | 'lose_answer' | 'lose_bytes' | 'reject';

export const MAX_FEE = 10n;
const ELSEWHERE = '0xelsewhere';

/** A chain with its node in memory, which a test controls. */
export class ScriptedChain {
  readonly blocks: MinedBlock[] = [{ height: 0, hash: 'genesis', mined: [] }];
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
  readonly #pool = new Map<string, Transaction>();
  readonly #genesis = new Map<string, bigint>();
  #made = 0;

  readonly sender: EvmSender = {
    ...evmSender({
      pool: () => this.#pool,
      refuses: (to) => this.refusing.has(to) && !this.unforeseen.has(to),
      balance: (asset, address) => this.balance(asset, address),
      fees: () => ({ maxFeePerGas: this.leastFee, maxPriorityFeePerGas: 1n }),
      usualFee: () => MAX_FEE,
      height: () => this.blocks.length - 1,
      finalizedHeight: () => Math.max(0, this.blocks.length - 1 - this.finalizedLag),
      newestBlock: () => this.blocks.at(-1)?.hash ?? 'none',
      nonceAt: (address, height) => this.#nonce(address, height + 1),
      find: (txHash) => (this.hasNoReceipts ? undefined : this.#find(txHash)),
      blocksBetween: (from, to) => this.#search(from, to),
    }),
    broadcast: async (raw) => this.#take(raw),
  };

  /** Money that was there before the test began. */
  fund(asset: AssetSymbol, address: string, amount: bigint): void {
    const key = `${asset} ${address}`;
    this.#genesis.set(key, (this.#genesis.get(key) ?? 0n) + amount);
  }

  balance(asset: AssetSymbol, address: string): bigint {
    let balance = this.#genesis.get(`${asset} ${address}`) ?? 0n;
    for (const { transaction, succeeded, feePaid } of this.#mined()) {
      if (asset === 'ETH' && transaction.from === address) balance -= feePaid;
      if (!succeeded || transaction.asset !== asset) continue;
      if (transaction.source === address) balance -= transaction.amount;
      if (transaction.to === address) balance += transaction.amount;
    }
    return balance;
  }

  /** Successful payments to an address in the current chain. */
  paymentsTo(address: string): { asset: AssetSymbol; amount: bigint }[] {
    return this.#mined()
      .filter(({ transaction, succeeded }) => succeeded && transaction.to === address)
      .map(({ transaction: { asset, amount } }) => ({ asset, amount }));
  }

  /** The first block includes what can be mined from the mempool, the others are empty. */
  mine(blocks = 1): void {
    for (let i = 0; i < blocks; i++) {
      const { mined } = this.#add();
      if (i > 0) continue;
      for (let progress = true; progress; ) {
        progress = false;
        for (const [hash, transaction] of this.#pool) {
          if (!this.#canMine(transaction) || transaction.fee < this.leastFee) continue;
          mined.push(this.#executed(transaction));
          this.#pool.delete(hash);
          progress = true;
        }
      }
    }
  }

  /** Replaces the newest blocks by empty ones, one more than before. Their transactions are dropped, or pending again. */
  reorg(depth: number, held: 'gone' | 'pending' = 'gone'): void {
    const dropped = this.blocks.splice(this.blocks.length - depth, depth);
    for (const { transaction } of dropped.flatMap((block) => block.mined)) {
      if (held === 'pending') this.#pool.set(transaction.hash, transaction);
    }
    for (let i = 0; i <= depth; i++) this.#add();
  }

  /** The node restarts and has lost its mempool. */
  forgetPool(): void {
    this.#pool.clear();
  }

  /** Whether the next block could include these bytes, whatever fee they offer. */
  canMine(raw: string): boolean {
    return this.#canMine(parse(raw));
  }

  /** A miner includes older bytes although they were replaced. */
  mineBytes(raw: string): void {
    const transaction = parse(raw);
    this.#dropWithNonce(transaction);
    const mined = this.#executed(transaction);
    this.#add().mined.push(mined);
  }

  get pending(): number {
    return this.#pool.size;
  }

  /** Another party with the key uses a wallet's next nonce in a new block. */
  useNonce(from: string): void {
    const nonce = this.#nonce(from);
    const wire = {
      from,
      nonce,
      asset: 'ETH',
      source: from,
      to: ELSEWHERE,
      amount: 0n,
      gas: 0n,
      fee: 0n,
    } as const;
    const transaction = parse(signed(wire).raw);
    this.#add().mined.push({ transaction, succeeded: true, feePaid: 0n });
    this.#dropWithNonce(transaction);
  }

  noncesUsedElsewhere(wallet: string): bigint[] {
    return this.#mined()
      .filter(({ transaction }) => transaction.from === wallet && transaction.to === ELSEWHERE)
      .map(({ transaction }) => BigInt(transaction.nonce));
  }

  #take(raw: string): Broadcast {
    const fate = this.fates.shift() ?? 'accept';
    if (fate === 'lose_bytes') return 'unknown';
    this.arrived.push(raw);
    if (fate === 'reject') return 'rejected';
    const transaction = parse(raw);
    const isKnown = this.#pool.has(transaction.hash) || this.#find(transaction.hash) !== undefined;
    if (!isKnown && !addToPool(this.#pool, transaction, this.#nonce(transaction.from))) return 'rejected';
    return fate === 'lose_answer' ? 'unknown' : 'accepted';
  }

  #executed(transaction: Transaction): Mined {
    const { to, asset, source, amount, gas, fee } = transaction;
    const succeeded = !this.refusing.has(to) && this.balance(asset, source) >= amount;
    return { transaction, succeeded, feePaid: gas * fee };
  }

  #canMine({ from, nonce, asset, source, amount, gas, fee }: Transaction): boolean {
    const value = asset === 'ETH' && source === from ? amount : 0n;
    return nonce === this.#nonce(from) && this.balance('ETH', from) >= value + gas * fee;
  }

  #dropWithNonce({ from, nonce }: Transaction): void {
    for (const [hash, one] of this.#pool) {
      if (one.from === from && one.nonce === nonce) this.#pool.delete(hash);
    }
  }

  #find(txHash: string): { block: MinedBlock; mined: Mined } | undefined {
    for (const block of this.blocks) {
      const mined = block.mined.find(({ transaction }) => transaction.hash === txHash);
      if (mined !== undefined) return { block, mined };
    }
    return undefined;
  }

  *#search(from: number, to: number): Generator<MinedBlock> {
    for (let height = from; height <= to; height++) {
      const block = this.blocks[height];
      if (block === undefined || this.missingBlocks.has(height)) throw new Error(`no block ${height}`);
      this.searched += 1;
      yield block;
    }
  }

  #mined(): Mined[] {
    return this.blocks.flatMap((block) => block.mined);
  }

  /** The next nonce of an address after so many blocks. */
  #nonce(address: string, blocks = this.blocks.length): number {
    return this.blocks
      .slice(0, blocks)
      .flatMap((block) => block.mined)
      .filter(({ transaction }) => transaction.from === address).length;
  }

  #add(): MinedBlock {
    this.#made += 1;
    const block: MinedBlock = { height: this.blocks.length, hash: `block ${this.#made}`, mined: [] };
    this.blocks.push(block);
    return block;
  }
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
