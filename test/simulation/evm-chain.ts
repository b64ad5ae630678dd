import type { Block, Broadcast, Payment } from '@quittance/chains/chain';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import {
  addToPool,
  DEPOSITS,
  depositAddress,
  type EvmView,
  evmSender,
  evmSigner,
  HOT,
  type Mined,
  type MinedBlock,
  parse,
  type Transaction,
} from '@quittance/testkit/scripted-evm-sender';
import { askToBroadcast, type ReorgFate, type SimChain, type SimChainOptions } from './chain.ts';

type EvmBlock = MinedBlock & { parentHash: string; time: Date };

const GWEI = 10n ** 9n;
const USUAL_FEE = 2n * GWEI;
const HIGH_FEE = 20n * GWEI;
const FINAL_BEHIND = 3;
const BLOCK_MS = 12_000;

/** Ethereum as its node shows it: accounts with nonces, a fee market, receipts that say success or not. */
export function createEvmChain({ random, now }: SimChainOptions): SimChain<'evm'> {
  const blocks: EvmBlock[] = [{ height: 0, hash: '0xgenesis', parentHash: '0x', time: now(), mined: [] }];
  const pool = new Map<string, Transaction>();
  /** Every bytes of ours that ever reached the node, by their hash. */
  const arrived = new Map<string, Transaction>();
  const refusing = new Set<string>();
  const genesis = new Map<string, bigint>();
  let leastFee = USUAL_FEE;
  let made = 0;
  let balances = new Map<string, bigint>();
  let nonces = new Map<string, number>();

  const key = (asset: AssetSymbol, address: string) => `${asset} ${address}`;
  const balance = (asset: AssetSymbol, address: string): bigint => balances.get(key(asset, address)) ?? 0n;
  const add = (asset: AssetSymbol, address: string, amount: bigint) =>
    void balances.set(key(asset, address), balance(asset, address) + amount);
  const head = () => blocks.at(-1) as EvmBlock;
  const finalized = () => Math.max(0, head().height - FINAL_BEHIND);

  function count({ transaction, succeeded, feePaid }: Mined): void {
    const { from, asset, source, to, amount, nonce, isOurs } = transaction;
    if (isOurs) {
      nonces.set(from, nonce + 1);
      add('ETH', from, -feePaid);
    }
    if (!succeeded) return;
    if (isOurs) add(asset, source, -amount);
    add(asset, to, amount);
  }

  function recount(): void {
    balances = new Map(genesis);
    nonces = new Map();
    for (const block of blocks) for (const mined of block.mined) count(mined);
  }

  const nonceAt = (address: string, height: number): number => {
    let next = 0;
    for (const block of blocks) {
      if (block.height > height) break;
      for (const { transaction } of block.mined)
        if (transaction.from === address) next = transaction.nonce + 1;
    }
    return next;
  };

  function canMine({ from, nonce, asset, source, amount, gas, fee, isOurs }: Transaction): boolean {
    if (!isOurs) return true;
    if (nonce !== (nonces.get(from) ?? 0)) return false;
    const value = asset === 'ETH' && source === from ? amount : 0n;
    return balance('ETH', from) >= value + gas * fee;
  }

  function newBlock(): EvmBlock {
    made += 1;
    const before = head();
    const block = {
      height: before.height + 1,
      hash: `0xblock${made}`,
      parentHash: before.hash,
      time: now(),
      mined: [],
    };
    blocks.push(block);
    return block;
  }

  function include(block: EvmBlock, transaction: Transaction): void {
    const { to, asset, source, amount, gas, fee, isOurs } = transaction;
    const succeeded = !refusing.has(to) && (!isOurs || balance(asset, source) >= amount);
    const mined = { transaction, succeeded, feePaid: (gas * fee) / 2n };
    block.mined.push(mined);
    pool.delete(transaction.hash);
    count(mined);
  }

  function fill(block: EvmBlock, only: (transaction: Transaction) => boolean = () => true): void {
    for (let progress = true; progress; ) {
      progress = false;
      for (const transaction of [...pool.values()]) {
        if (!only(transaction) || !canMine(transaction)) continue;
        if (transaction.isOurs && transaction.fee < leastFee) continue;
        include(block, transaction);
        progress = true;
      }
    }
  }

  const find = (txHash: string) => {
    for (const block of blocks) {
      const mined = block.mined.find(({ transaction }) => transaction.hash === txHash);
      if (mined !== undefined) return { block, mined };
    }
    return undefined;
  };

  function take(raw: string): Broadcast {
    const transaction = parse(raw);
    arrived.set(transaction.hash, transaction);
    if (find(transaction.hash) !== undefined || pool.has(transaction.hash)) return 'accepted';
    return addToPool(pool, transaction, nonces.get(transaction.from) ?? 0) ? 'accepted' : 'rejected';
  }

  const paymentsOf = ({ mined }: EvmBlock): Payment[] =>
    mined.flatMap(({ transaction: { hash: txHash, asset, to, amount }, succeeded }) => {
      if (!succeeded || amount === 0n) return [];
      const outputIndex = assets[asset].type === 'native' ? 0 : 1;
      const outpoint = `${txHash}:${outputIndex}`;
      return [{ outpoint, txHash, outputIndex, asset, address: to, amount: units(amount) }];
    });

  const shown = (block: EvmBlock): Block => ({
    height: block.height,
    hash: block.hash,
    parentHash: block.parentHash,
    time: block.time,
    payments: paymentsOf(block),
    spends: [],
  });

  const view: EvmView = {
    pool: () => pool,
    refuses: (to) => refusing.has(to),
    balance,
    fees: () => ({ maxFeePerGas: 2n * leastFee, maxPriorityFeePerGas: GWEI }),
    usualFee: () => leastFee,
    height: () => head().height,
    finalizedHeight: finalized,
    newestBlock: () => head().hash,
    nonceAt: (address, height) =>
      height === head().height ? (nonces.get(address) ?? 0) : nonceAt(address, height),
    find,
    blocksBetween: (from, to) => blocks.slice(from, to + 1),
  };
  recount();
  return {
    kind: 'evm',
    chain: 'ethereum',
    assets: ['ETH', 'USDC_ERC20'],
    minConfirmations: 2,
    settlesAfter: 2,
    unit: (asset) => (asset === 'ETH' ? 10n ** 16n : 10n ** 7n),
    blockMs: BLOCK_MS,

    reader: (ask) => ({
      chain: 'ethereum',
      check: () => ask('check', () => undefined),
      head: () =>
        ask('head', () => {
          const { height, hash: hashOfHead, time } = head();
          return { height, hash: hashOfHead, time };
        }),
      block: (height) =>
        ask('block', () => {
          const block = blocks[height];
          return block && shown(block);
        }),
      blocksAfter: (height, limit) =>
        ask('blocksAfter', () => blocks.slice(height + 1, height + 1 + limit).map(shown)),
      hashAt: (height) => ask('hashAt', () => blocks[height]?.hash),
      close: async () => {},
    }),

    sender: (ask) => ({
      ...evmSender(view, ask),
      broadcast: (raw) => askToBroadcast(ask, () => take(raw)),
    }),
    signer: evmSigner,
    depositAddress,
    hotAddress: HOT,
    isOurAddress: (address) => address === HOT || address.startsWith(DEPOSITS),
    checkAddress: (text) => (/^0x[0-9a-f]{40}$/.test(text) ? text : undefined),
    recipient: (n) => `0x${'e0'.repeat(16)}${n.toString(16).padStart(8, '0')}`,
    refuseAt: (address) => void refusing.add(address),

    fundHot(asset, amount) {
      genesis.set(key(asset, HOT), (genesis.get(key(asset, HOT)) ?? 0n) + amount);
      recount();
    },
    pay({ asset, to, amount }) {
      made += 1;
      const transaction = {
        from: `customer${made}`,
        source: `customer${made}`,
        nonce: 0,
        asset,
        to,
        amount,
        gas: 0n,
        fee: 0n,
        hash: `0xcustomer${made}`,
        isOurs: false,
      };
      pool.set(transaction.hash, transaction);
      return transaction.hash;
    },
    replace: (txHash) => pool.delete(txHash),
    forgetPool: () => pool.clear(),
    mineOld() {
      const possible = [...arrived.values()].filter(
        (transaction) => find(transaction.hash) === undefined && canMine(transaction),
      );
      const chosen = possible[Math.floor(random() * possible.length)];
      if (chosen === undefined) return;
      const { from, nonce } = chosen;
      include(newBlock(), chosen);
      for (const other of pool.values())
        if (other.from === from && other.nonce === nonce) pool.delete(other.hash);
    },
    mine(count_ = 1) {
      for (let i = 0; i < count_; i++) fill(newBlock());
    },
    reorg(depth: number, fate: ReorgFate) {
      const dropped = blocks.splice(Math.max(1, blocks.length - depth));
      const stayed = head().height;
      recount();
      const transactions = dropped.flatMap((block) => block.mined.map(({ transaction }) => transaction));
      for (const transaction of transactions) {
        if (fate === 'forgotten') continue;
        if (fate === 'replaced' && !transaction.isOurs) continue;
        pool.set(transaction.hash, transaction);
      }
      for (let i = 0; i <= dropped.length; i++) {
        const block = newBlock();
        if (fate === 'moved' && i === 0)
          fill(block, ({ hash: one }) => transactions.some((t) => t.hash === one));
      }
      return stayed;
    },
    height: () => head().height,
    isWaiting: () => [...pool.values()].some((one) => canMine(one) && (!one.isOurs || one.fee >= leastFee)),
    setFees(level) {
      leastFee = level === 'high' ? HIGH_FEE : USUAL_FEE;
    },
    truth: () =>
      blocks.flatMap((block) =>
        paymentsOf(block).map(({ outpoint, txHash, asset, address, amount }) => ({
          txHash: txHash as string,
          outpoint,
          asset,
          to: address,
          amount,
          height: block.height,
          confirmations: head().height - block.height + 1,
          isOurs: find(txHash as string)?.mined.transaction.isOurs === true,
        })),
      ),
    balance,
  };
}
