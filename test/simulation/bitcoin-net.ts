import { createHash } from 'node:crypto';
import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { ReorgFate } from './chain.ts';

export type BtcOutput = { address: string; amount: Units };

export type BtcTransaction = {
  hash: string;
  /** What it spends: `<hash>:<n>`, or a customer's money, of which there is no end. */
  inputs: readonly string[];
  outputs: readonly BtcOutput[];
  fee: bigint;
  virtualBytes: number;
};

export type BtcBlock = {
  height: number;
  hash: string;
  parentHash: string;
  time: Date;
  transactions: readonly BtcTransaction[];
};

const CUSTOMERS = 'customer-';
const CUSTOMER_FEE = 1_000n;
const CUSTOMER_VIRTUAL_BYTES = 141;
/** What nodes ask of a replacement beside the fees of all it replaces, for each of its bytes. */
const RELAY_RATE = 1n;

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Bitcoin in memory, as its nodes agree on it: outputs that are spent once, a pool in which the dearer replaces the
 * cheaper, blocks that take what pays enough, and reorganisations to a longer chain. Nothing happens by itself.
 */
export class BitcoinNet {
  #blocks: BtcBlock[] = [];
  #pool = new Map<string, BtcTransaction>();
  /** Everything a node ever had: a miner may have kept it. */
  readonly #known = new Map<string, BtcTransaction>();
  /** Outputs of transactions in the chain, spent or not, and what spent them there. */
  #outputs = new Map<string, BtcOutput & { height: number }>();
  #spentBy = new Map<string, string>();
  #heights = new Map<string, number>();
  /** Transactions that were in a block once: a node with an index still tells what they spend. */
  readonly #indexed = new Set<string>();
  #made = 0;
  #customers = 0;
  /** Satoshi a byte: what blocks ask for, and what pools at least. */
  blockRate = 1n;
  poolRate = 1n;

  constructor(now: Date) {
    this.#append(now, []);
  }

  get blocks(): readonly BtcBlock[] {
    return this.#blocks;
  }
  get height(): number {
    return this.#blocks.length - 1;
  }
  get head(): BtcBlock {
    return this.#blocks[this.height] as BtcBlock;
  }
  get pool(): readonly BtcTransaction[] {
    return [...this.#pool.values()];
  }
  inPool(hash: string): BtcTransaction | undefined {
    return this.#pool.get(hash);
  }
  heightOf(hash: string): number | undefined {
    return this.#heights.get(hash);
  }
  transaction(hash: string): BtcTransaction | undefined {
    return this.#known.get(hash);
  }
  wasMined(hash: string): boolean {
    return this.#indexed.has(hash);
  }

  /** An output of the chain that no block spends. */
  unspent(outpoint: string): (BtcOutput & { height: number }) | undefined {
    return this.#spentBy.has(outpoint) ? undefined : this.#outputs.get(outpoint);
  }

  unspentOf(address: string): (BtcOutput & { outpoint: string })[] {
    return [...this.#outputs]
      .filter(([outpoint, output]) => output.address === address && !this.#spentBy.has(outpoint))
      .map(([outpoint, { amount }]) => ({ outpoint, address, amount }));
  }

  /** A customer's payment, in one transaction; it waits. */
  pay(outputs: readonly BtcOutput[]): BtcTransaction {
    this.#customers += 1;
    const paid = this.#ofCustomer(outputs, [`${CUSTOMERS}${this.#customers}:0`], CUSTOMER_FEE);
    this.#admit(paid);
    return paid;
  }

  /** A customer replaces what waits by something else, for a higher fee. */
  replace(hash: string, outputs: readonly BtcOutput[]): BtcTransaction | undefined {
    const old = this.#pool.get(hash);
    if (old === undefined || !this.isOfCustomer(old)) return undefined;
    const fee = old.fee + CUSTOMER_FEE;
    const replacement = this.#ofCustomer(outputs, old.inputs, fee);
    this.#forget(hash);
    this.#admit(replacement);
    return replacement;
  }

  /** Every node is restarted, or its pool is full. */
  dropAll(): void {
    this.#pool.clear();
  }

  /** What a node does with bytes that it is sent. */
  take(transaction: BtcTransaction): 'accepted' | 'rejected' {
    const { hash, inputs, fee, virtualBytes } = transaction;
    this.#known.set(hash, transaction);
    if (this.#pool.has(hash) || this.#heights.has(hash)) return 'accepted';
    if (fee < this.poolRate * BigInt(virtualBytes)) return 'rejected';
    if (!inputs.every((outpoint) => this.#isThere(outpoint))) return 'rejected';
    const beaten = this.#conflicts(inputs);
    const before = this.#withDescendants(beaten);
    // Nothing takes the place of what it spends from.
    if (before.some((one) => inputs.some((outpoint) => sourceOf(outpoint) === one.hash))) return 'rejected';
    const paid = before.reduce((sum, one) => sum + one.fee, 0n);
    if (before.length > 0 && fee < paid + RELAY_RATE * BigInt(virtualBytes)) return 'rejected';
    const isDearer = beaten.every((one) => fee * BigInt(one.virtualBytes) > one.fee * BigInt(virtualBytes));
    if (!isDearer) return 'rejected';
    for (const one of before) this.#pool.delete(one.hash);
    this.#admit(transaction);
    return 'accepted';
  }

  /** The least fee for which one of so many bytes takes the place of this; undefined when it does not wait. */
  replacementFee(hash: string, virtualBytes: number): Units | undefined {
    const waiting = this.#pool.get(hash);
    if (waiting === undefined) return undefined;
    const paid = this.#withDescendants([waiting]).reduce((sum, one) => sum + one.fee, 0n);
    return units(paid + RELAY_RATE * BigInt(virtualBytes));
  }

  /** One block, with all that waits and pays enough. */
  mine(now: Date): void {
    this.#append(now, this.#mineable([...this.#pool.values()], this.blockRate));
  }

  /** A miner has kept what the pools do not have, and mines it if it can be mined: whatever came in its place. */
  mineKept(now: Date, hash: string): boolean {
    const kept = this.#known.get(hash);
    if (kept === undefined || this.#mineable([kept], 0n).length === 0) return false;
    this.#append(now, [kept]);
    return true;
  }

  /** What could be in the next block, that some node had and no pool has. */
  kept(): readonly string[] {
    return [...this.#known.keys()].filter((hash) => !this.#pool.has(hash) && !this.#heights.has(hash));
  }

  /** The newest blocks are replaced by one more of them. */
  reorg(now: Date, depth: number, fate: ReorgFate): void {
    invariant(depth >= 1 && depth <= this.height, 'the first block stays');
    const away = this.#blocks.slice(-depth).flatMap(({ transactions }) => transactions);
    const stay = this.#blocks.slice(0, -depth);
    this.#blocks = [];
    this.#outputs = new Map();
    this.#spentBy = new Map();
    this.#heights = new Map();
    for (const block of stay) this.#connect(block);
    const waited = [...this.#pool.values()];
    this.#pool = new Map();
    const beaten =
      fate === 'replaced' ? away.filter((one) => this.isOfCustomer(one)).map((one) => this.#beat(one)) : [];
    const again = fate === 'moved' ? this.#mineable(away, 0n) : beaten;
    for (let i = 0; i <= depth; i++) this.#append(now, i === 0 ? again : []);
    // In their order: what spends another's output comes after it.
    for (const one of fate === 'forgotten' ? waited : [...away, ...waited]) {
      if (!this.#heights.has(one.hash) && one.inputs.every((outpoint) => this.#isThere(outpoint))) {
        if (this.#conflicts(one.inputs).length === 0) this.#admit(one);
      }
    }
  }

  #beat({ inputs, outputs, fee, hash }: BtcTransaction): BtcTransaction {
    const elsewhere = outputs.map((output) => ({ ...output, address: `beaten-${hash.slice(0, 8)}` }));
    return this.#ofCustomer(elsewhere, inputs, fee);
  }

  #ofCustomer(outputs: readonly BtcOutput[], inputs: readonly string[], fee: bigint): BtcTransaction {
    this.#made += 1;
    const hash = hashOf(`customer's ${this.#made}`);
    const made = { hash, inputs, outputs, fee, virtualBytes: CUSTOMER_VIRTUAL_BYTES };
    this.#known.set(hash, made);
    return made;
  }

  #admit(transaction: BtcTransaction): void {
    this.#known.set(transaction.hash, transaction);
    this.#pool.set(transaction.hash, transaction);
  }

  #forget(hash: string): void {
    const one = this.#pool.get(hash);
    if (one === undefined) return;
    for (const { hash: away } of this.#withDescendants([one])) this.#pool.delete(away);
  }

  isOfCustomer({ inputs }: BtcTransaction): boolean {
    return inputs.every((outpoint) => outpoint.startsWith(CUSTOMERS));
  }

  /** Whether the next block would take anything. */
  isWaiting(): boolean {
    return this.#mineable([...this.#pool.values()], this.blockRate).length > 0;
  }

  /** Whether something can be spent: a customer's money, what the chain has, or what waits. */
  #isThere(outpoint: string): boolean {
    if (this.#spentBy.has(outpoint)) return false;
    if (outpoint.startsWith(CUSTOMERS) || this.#outputs.has(outpoint)) return true;
    const [source = '', n = ''] = outpoint.split(':');
    return this.#pool.get(source)?.outputs[Number(n)] !== undefined; // eslint-disable-line no-restricted-syntax -- the place of an output
  }

  #conflicts(inputs: readonly string[]): BtcTransaction[] {
    const wanted = new Set(inputs);
    return [...this.#pool.values()].filter((one) => one.inputs.some((outpoint) => wanted.has(outpoint)));
  }

  #withDescendants(some: readonly BtcTransaction[]): BtcTransaction[] {
    const found = new Map(some.map((one) => [one.hash, one]));
    for (let before = -1; before < found.size; ) {
      before = found.size;
      for (const one of this.#pool.values()) {
        if (one.inputs.some((outpoint) => found.has(sourceOf(outpoint)))) found.set(one.hash, one);
      }
    }
    return [...found.values()];
  }

  /** In their order, parents first; of two that spend the same the first. */
  #mineable(candidates: readonly BtcTransaction[], rate: bigint): BtcTransaction[] {
    const taken: BtcTransaction[] = [];
    const spent = new Set<string>();
    const made = new Set<string>();
    for (let before = -1; before < taken.length; ) {
      before = taken.length;
      for (const one of candidates) {
        if (taken.includes(one) || this.#heights.has(one.hash)) continue;
        if (one.fee < rate * BigInt(one.virtualBytes)) continue;
        const isFree = one.inputs.every(
          (outpoint) =>
            !spent.has(outpoint) &&
            !this.#spentBy.has(outpoint) &&
            (outpoint.startsWith(CUSTOMERS) || this.#outputs.has(outpoint) || made.has(outpoint)),
        );
        if (!isFree) continue;
        taken.push(one);
        for (const outpoint of one.inputs) spent.add(outpoint);
        for (const [n] of one.outputs.entries()) made.add(`${one.hash}:${n}`);
      }
    }
    return taken;
  }

  #append(now: Date, transactions: readonly BtcTransaction[]): void {
    this.#made += 1;
    const parent = this.#blocks.at(-1);
    const height = this.#blocks.length;
    // The clocks of miners may be off; a block is not older than its parent all the same.
    const time = parent !== undefined && parent.time > now ? parent.time : now;
    const hash = hashOf(`block ${height} ${this.#made}`);
    this.#connect({ height, hash, parentHash: parent?.hash ?? hashOf('nothing'), time, transactions });
  }

  #connect(block: BtcBlock): void {
    this.#blocks.push(block);
    for (const { hash, inputs, outputs } of block.transactions) {
      this.#heights.set(hash, block.height);
      this.#indexed.add(hash);
      this.#pool.delete(hash);
      for (const outpoint of inputs) this.#spentBy.set(outpoint, hash);
      for (const [n, output] of outputs.entries()) {
        this.#outputs.set(`${hash}:${n}`, { ...output, height: block.height });
      }
    }
    for (const { inputs } of block.transactions) {
      for (const beaten of this.#conflicts(inputs)) this.#forget(beaten.hash);
    }
  }
}

const sourceOf = (outpoint: string): string => outpoint.slice(0, outpoint.lastIndexOf(':'));
