import { createHash } from 'node:crypto';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { ReorgFate } from './chain.ts';

export type SolMove = { asset: AssetSymbol; from: string; to: string; amount: bigint };

export type SolTransaction = {
  hash: string;
  /** The first one pays the fee. */
  signers: readonly string[];
  /** The block it builds on: it is valid for so many blocks after that. Null for customers', who sign again. */
  blockhash: string | null;
  moves: readonly SolMove[];
  /** Owners whose account for a token is opened if it is not there, by the first signer. */
  opens: readonly { asset: AssetSymbol; owner: string }[];
  fee: bigint;
  /** What it offers for its place. */
  priorityFee: bigint;
};

export type SolMined = { transaction: SolTransaction; succeeded: boolean; feePaid: bigint };

export type SolBlock = {
  slot: number;
  height: number;
  hash: string;
  parentHash: string;
  time: Date;
  mined: readonly SolMined[];
};

/** Shorter than on the public networks, where it is 150 blocks and some 32: a scenario has not so many. */
export const LIFETIME = 20;
export const FINAL_LAG = 4;
const SLOT_MISSED_EVERY = 7;
export const WALLET_RENT = 890_880n;
export const TOKEN_RENT = 2_039_280n;
/** Has no end of anything. */
const CUSTOMER = 'customer';

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const keyOf = (asset: AssetSymbol, owner: string): string => `${asset} ${owner}`;

/** What everybody has. */
class Accounts {
  readonly #amounts: Map<string, bigint>;
  readonly #opened: Set<string>;

  constructor(of?: Accounts) {
    this.#amounts = new Map(of === undefined ? [] : of.#amounts);
    this.#opened = new Set(of === undefined ? [] : of.#opened);
  }

  clone(): Accounts {
    return new Accounts(this);
  }

  of(asset: AssetSymbol, owner: string): bigint {
    return this.#amounts.get(keyOf(asset, owner)) ?? 0n;
  }

  /** What a block makes of a transaction; undefined when it takes it not at all, because nobody pays its fee. */
  run(
    { signers, moves, opens, fee }: SolTransaction,
    refuses: (to: string) => boolean,
  ): Omit<SolMined, 'transaction'> | undefined {
    const payer = signers[0] as string;
    if (payer !== CUSTOMER) {
      const left = this.of('SOL', payer) - fee;
      if (left < 0n || (left > 0n && left < WALLET_RENT)) return undefined;
      this.#add('SOL', payer, -fee);
    }
    const trial = this.clone();
    const rents = trial.#open(payer, opens);
    const works = !moves.some(({ to }) => refuses(to)) && moves.every((move) => trial.#move(move));
    if (!works || !trial.#isRentPaid(payer, moves)) return { succeeded: false, feePaid: fee };
    for (const [key, amount] of trial.#amounts) this.#amounts.set(key, amount);
    for (const key of trial.#opened) this.#opened.add(key);
    return { succeeded: true, feePaid: fee + rents };
  }

  /** What a block has made of it, again: nobody changes his mind about that. */
  repeat({ transaction, succeeded }: SolMined): void {
    this.run(transaction, () => !succeeded);
  }

  #open(payer: string, opens: SolTransaction['opens']): bigint {
    let rents = 0n;
    for (const { asset, owner } of opens) {
      const key = keyOf(asset, owner);
      if (this.#opened.has(key)) continue;
      this.#opened.add(key);
      if (payer === CUSTOMER) continue;
      this.#add('SOL', payer, -TOKEN_RENT);
      rents += TOKEN_RENT;
    }
    return rents;
  }

  #move({ asset, from, to, amount }: SolMove): boolean {
    if (assets[asset].type === 'token' && !this.#opened.has(keyOf(asset, to))) return false;
    if (from !== CUSTOMER) {
      if (this.of(asset, from) < amount) return false;
      this.#add(asset, from, -amount);
    }
    this.#add(asset, to, amount);
    return true;
  }

  /** An account holds enough to stay, or nothing. */
  #isRentPaid(payer: string, moves: readonly SolMove[]): boolean {
    const touched = new Set([payer, ...moves.flatMap(({ from, to }) => [from, to])]);
    return [...touched].every((owner) => {
      const has = this.of('SOL', owner);
      const isMoved = moves.some(
        ({ asset, from, to }) => asset === 'SOL' && (from === owner || to === owner),
      );
      return owner === CUSTOMER || !(isMoved || owner === payer) || has === 0n || has >= WALLET_RENT;
    });
  }

  #add(asset: AssetSymbol, owner: string, amount: bigint): void {
    this.#amounts.set(keyOf(asset, owner), this.of(asset, owner) + amount);
  }
}

/**
 * Solana in memory: signed bytes are valid for some blocks, a block may be dropped until it is final, and what was sent
 * may be lost on its way to whoever makes the next one. Nothing happens by itself.
 */
export class SolanaNet {
  #blocks: SolBlock[] = [];
  #final = 0;
  #waiting = new Map<string, SolTransaction>();
  readonly #known = new Map<string, SolTransaction>();
  readonly #refusing = new Set<string>();
  readonly #refuses = (to: string): boolean => this.#refusing.has(to);
  readonly #finalAccounts = new Accounts();
  #accounts = new Accounts();
  #where = new Map<string, { block: SolBlock; mined: SolMined }>();
  #lastSlot = 0;
  #made = 0;
  #customers = 0;
  readonly #random: () => number;
  /** Blocks take nothing that offers less. */
  leastPrice = 0n;

  constructor(now: Date, random: () => number) {
    this.#random = random;
    this.#append(now, []);
  }

  get blocks(): readonly SolBlock[] {
    return this.#blocks;
  }
  get tip(): SolBlock {
    return this.#blocks.at(-1) as SolBlock;
  }
  get final(): SolBlock {
    return this.#blocks[this.#final] as SolBlock;
  }
  finalBlocks(): readonly SolBlock[] {
    return this.#blocks.slice(0, this.#final + 1);
  }
  /** Voted for, and not final yet. */
  confirmedBlocks(): readonly SolBlock[] {
    return this.#blocks.slice(this.#final + 1);
  }
  find(hash: string): { block: SolBlock; mined: SolMined } | undefined {
    return this.#where.get(hash);
  }
  balance(asset: AssetSymbol, owner: string, at: 'confirmed' | 'finalized'): bigint {
    return (at === 'finalized' ? this.#finalAccounts : this.#accounts).of(asset, owner);
  }

  refuseAt(address: string): void {
    this.#refusing.add(address);
  }

  /** What the newest block would make of it; undefined when its fee cannot be paid. */
  trial(transaction: SolTransaction): { succeeded: boolean } | undefined {
    return this.#accounts.clone().run(transaction, this.#refuses);
  }

  pay(move: Omit<SolMove, 'from'>): string {
    this.#customers += 1;
    const { asset, to: owner } = move;
    const opens = assets[asset].type === 'token' ? [{ asset, owner }] : [];
    const hash = hashOf(`customer's ${this.#customers}`);
    const paid = { ...move, from: CUSTOMER };
    const transaction = { hash, signers: [CUSTOMER], blockhash: null, moves: [paid], opens, fee: 0n };
    this.take({ ...transaction, priorityFee: 10n ** 9n });
    return hash;
  }

  /** Bytes arrive at the one who makes the next block. */
  take(transaction: SolTransaction): void {
    this.#known.set(transaction.hash, transaction);
    if (!this.#where.has(transaction.hash)) this.#waiting.set(transaction.hash, transaction);
  }

  /** The customer spends the money of his waiting payment elsewhere. */
  takeBack(hash: string): boolean {
    const one = this.#waiting.get(hash);
    if (one === undefined || isOurs(one)) return false;
    this.#known.delete(hash);
    return this.#waiting.delete(hash);
  }

  loseWaiting(): void {
    this.#waiting.clear();
  }

  isWaiting(): boolean {
    return [...this.#waiting.values()].some((one) => this.#canBeMined(one));
  }

  mine(now: Date): void {
    const ready = [...this.#waiting.values()].filter((one) => this.#canBeMined(one));
    this.#append(now, ready);
    for (const one of this.#waiting.values()) if (!this.#isValid(one)) this.#waiting.delete(one.hash);
  }

  /** Somebody has kept bytes that are nowhere: they are mined if they are valid still. */
  mineOld(now: Date): void {
    const kept = [...this.#known.values()].filter(
      (one) => !this.#where.has(one.hash) && !this.#waiting.has(one.hash) && this.#isValid(one),
    );
    const one = kept[Math.floor(this.#random() * kept.length)];
    if (one !== undefined) this.#append(now, [one]);
  }

  /**
   * Only blocks that are not final can be dropped.
   * @returns the slot of the newest that stayed
   */
  reorg(now: Date, depth: number, fate: ReorgFate): number {
    const possible = Math.min(depth, this.#blocks.length - 1 - this.#final);
    if (possible < 1) return this.tip.slot;
    const away = this.#blocks.splice(-possible, possible).flatMap(({ mined }) => mined);
    const stayed = this.tip.slot;
    this.#accounts = this.#finalAccounts.clone();
    for (const { mined } of this.confirmedBlocks()) for (const one of mined) this.#accounts.repeat(one);
    for (const { transaction } of away) this.#where.delete(transaction.hash);
    const dropped = away.map(({ transaction }) => transaction);
    for (let i = 0; i <= possible; i++) {
      this.#append(now, i === 0 && fate === 'moved' ? dropped.filter((one) => this.#isValid(one)) : []);
    }
    if (fate === 'forgotten') return stayed;
    for (const one of dropped) {
      if (this.#where.has(one.hash)) continue;
      if (fate === 'replaced' && !isOurs(one)) this.#known.delete(one.hash);
      else this.take(one);
    }
    return stayed;
  }

  /** The block that it builds on is in the chain, and not too long ago. */
  #isValid({ blockhash, hash }: SolTransaction): boolean {
    if (this.#where.has(hash)) return false;
    if (blockhash === null) return true;
    const from = this.#blocks.findLast((block) => block.hash === blockhash);
    return from !== undefined && this.tip.height + 1 <= from.height + LIFETIME;
  }

  #canBeMined(one: SolTransaction): boolean {
    return one.priorityFee >= this.leastPrice && this.#isValid(one) && this.trial(one) !== undefined;
  }

  #append(now: Date, transactions: readonly SolTransaction[]): void {
    this.#made += 1;
    const parent = this.#blocks.at(-1);
    // Who is to make a block may miss his turn: always the same ones, because the prologue of every scenario is the same.
    this.#lastSlot += this.#made % SLOT_MISSED_EVERY === 0 ? 2 : 1;
    const mined = transactions.flatMap((transaction): SolMined[] => {
      const made = this.#accounts.run(transaction, this.#refuses);
      return made === undefined ? [] : [{ transaction, ...made }];
    });
    const block: SolBlock = {
      slot: this.#lastSlot,
      height: this.#blocks.length,
      hash: hashOf(`block ${this.#lastSlot} ${this.#made}`),
      parentHash: parent?.hash ?? hashOf('nothing'),
      time: parent !== undefined && parent.time > now ? parent.time : now,
      mined,
    };
    this.#blocks.push(block);
    for (const one of mined) {
      this.#where.set(one.transaction.hash, { block, mined: one });
      this.#waiting.delete(one.transaction.hash);
    }
    while (this.#final < this.#blocks.length - 1 - FINAL_LAG) {
      this.#final += 1;
      for (const one of this.final.mined) this.#finalAccounts.repeat(one);
    }
  }
}

export const isOurs = ({ signers }: SolTransaction): boolean => signers[0] !== CUSTOMER;
