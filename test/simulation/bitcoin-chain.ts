import { checkAddress } from '@quittance/chains/bitcoin/address';
import type { BitcoinSender } from '@quittance/chains/bitcoin/sender';
import { type SignedSpend, type Spend, selectCoins } from '@quittance/chains/bitcoin/spend';
import { type BitcoinWallet, type Branch, openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import type {
  Block,
  Broadcast,
  ChainReader,
  Payment,
  PendingLook,
  TransactionStatus,
} from '@quittance/chains/chain';
import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { BitcoinNet, type BtcBlock, type BtcTransaction, hashOf } from './bitcoin-net.ts';
import { type Ask, askToBroadcast, type SimChain, type SimChainOptions } from './chain.ts';

const NETWORK = 'regtest';
const UNIT = 1_000_000n;
/** Satoshi a byte: what a node advises, and what blocks then ask for. */
const FEES = {
  usual: { advice: 3n, block: 1n },
  high: { advice: 24n, block: 20n },
} as const;
const USUAL_VIRTUAL_BYTES = 210n;
/** As the production sender counts it. */
const FINAL_DEPTH = 100;
/** So many coins the operator's money comes in: several transactions can be under way at once. */
const HOT_COINS = 3n;

/**
 * Keys are slow, and everybody may know these: what a process derived once it keeps, whatever the seed. Nothing is
 * signed here, so nobody needs the secrets.
 */
const ours = cached('test test test test test test test test test test test junk');
const strangers = cached(`${'abandon '.repeat(11)}about`);

type KnownWallet = BitcoinWallet & { has: (address: string) => boolean };

function cached(phrase: string): () => KnownWallet {
  let wallet: KnownWallet | undefined;
  const known = new Map<string, string>();
  const derived = new Set<string>();
  return () => {
    if (wallet !== undefined) return wallet;
    const opened = openBitcoinWallet(NETWORK, phrase);
    const address = (branch: Branch, index: number) => {
      const key = `${branch} ${index}`;
      const found = known.get(key) ?? opened.address(branch, index);
      known.set(key, found);
      derived.add(found);
      return found;
    };
    // Nobody pays one that nobody derived.
    const has = (one: string) => one === opened.hotAddress || derived.has(one);
    wallet = { ...opened, address, has };
    return wallet;
  };
}

/**
 * Bitcoin for the simulator. Coins are chosen by the production code; bytes are words that say what they spend and
 * whom they pay, in place of signatures.
 */
export function createBitcoinChain({ random, now }: SimChainOptions): SimChain<'bitcoin'> {
  const net = new BitcoinNet(now());
  const wallet = ours();
  let fees: keyof typeof FEES = 'usual';
  /** What the operator did is below this, and no reorganisation goes there. */
  let floor = 0;
  let payments = 0;

  const views = { net, wallet, feeRate: () => FEES[fees].advice };
  return {
    kind: 'bitcoin',
    chain: 'bitcoin',
    assets: ['BTC'],
    minConfirmations: 3,
    settlesAfter: 3,
    unit: () => UNIT,
    blockMs: 600_000,

    reader: (ask) => readerOf(net, ask),
    sender: (ask) => senderOf(views, ask),

    depositAddress: (index) => wallet.address('deposit', index),
    hotAddress: wallet.hotAddress,
    isOurAddress: wallet.has,
    checkAddress: (text) => checkAddress(NETWORK, text),
    recipient: (n) => strangers().address('deposit', n),
    refuseAt() {},

    fundHot(_asset, amount) {
      const share = amount / HOT_COINS;
      for (let i = 0n; i < HOT_COINS; i++) {
        const coin = i === 0n ? amount - share * (HOT_COINS - 1n) : share;
        net.pay([{ address: wallet.hotAddress, amount: units(coin) }]);
      }
      net.mine(now());
      floor = net.height;
    },

    pay({ to, amount }) {
      const paid = { address: to, amount: units(amount) };
      const change = { address: strangers().address('change', 0), amount: units(UNIT) };
      // Not by chance: what every story begins with is told again.
      payments += 1;
      return net.pay(payments % 2 === 0 ? [paid, change] : [change, paid]).hash;
    },

    replace: (txHash) =>
      net.replace(txHash, [{ address: strangers().address('change', 0), amount: units(UNIT) }]) !== undefined,

    forgetPool: () => net.dropAll(),

    mineOld() {
      const kept = net.kept();
      const first = Math.floor(random() * kept.length);
      for (let i = 0; i < kept.length; i++) {
        if (net.mineKept(now(), kept[(first + i) % kept.length] as string)) return;
      }
    },

    mine(blocks = 1) {
      for (let i = 0; i < blocks; i++) net.mine(now());
    },

    reorg(depth, fate) {
      const possible = Math.min(depth, net.height - floor);
      const stays = net.height - Math.max(0, possible);
      if (possible > 0) net.reorg(now(), possible, fate);
      return stays;
    },

    height: () => net.height,
    isWaiting: () => net.isWaiting(),

    setFees(level) {
      fees = level;
      net.blockRate = FEES[level].block;
    },

    truth: () =>
      net.blocks.flatMap((block) =>
        block.transactions.flatMap((transaction) =>
          paymentsOf(transaction).map(({ outpoint, txHash, asset, address, amount }) => ({
            txHash: txHash ?? '',
            outpoint,
            asset,
            to: address,
            amount,
            height: block.height,
            confirmations: net.height - block.height + 1,
            isOurs: !net.isOfCustomer(transaction),
          })),
        ),
      ),
    balance: (_asset, address) => net.unspentOf(address).reduce((sum, { amount }) => sum + amount, 0n),
  };
}

const paymentsOf = ({ hash, outputs }: BtcTransaction): Payment[] =>
  outputs.map(({ address, amount }, n) => ({
    outpoint: `${hash}:${n}`,
    txHash: hash,
    outputIndex: n,
    asset: 'BTC',
    address,
    amount,
  }));

function blockOf({ height, hash, parentHash, time, transactions }: BtcBlock): Block {
  return { height, hash, parentHash, time, payments: transactions.flatMap(paymentsOf), spends: [] };
}

function readerOf(net: BitcoinNet, ask: Ask): ChainReader {
  const block = (height: number) =>
    ask('block', () => {
      const found = net.blocks[height];
      return found && blockOf(found);
    });
  return {
    chain: 'bitcoin',
    check: async () => {},
    head: () => ask('head', () => ({ height: net.height, hash: net.head.hash, time: net.head.time })),
    block,
    async blocksAfter(height, limit) {
      const blocks: Block[] = [];
      while (blocks.length < limit) {
        const next = await block(height + blocks.length + 1);
        const parent = blocks.at(-1);
        if (next === undefined || (parent !== undefined && next.parentHash !== parent.hash)) break;
        blocks.push(next);
      }
      return blocks;
    },
    hashAt: (height) => ask('hashAt', () => net.blocks[height]?.hash),
    watchPending: () => watchPool(net, ask),
    close: async () => {},
  };
}

function watchPool(net: BitcoinNet, ask: Ask) {
  let told = new Set<string>();
  return {
    async look(): Promise<PendingLook> {
      const { waiting, height } = await ask('pool', () => ({
        waiting: net.pool.map(({ hash }) => hash),
        height: net.height,
      }));
      const now = new Set(waiting);
      const known = told.intersection(now);
      const untold = waiting.filter((hash) => !known.has(hash));
      // Mined, or replaced, since they were listed: not told of.
      const fresh =
        untold.length === 0
          ? []
          : await ask('waiting', () => untold.flatMap((hash) => net.inPool(hash) ?? []));
      for (const { hash } of fresh) known.add(hash);
      told = known;
      return { fresh: fresh.flatMap(paymentsOf), has: (hash) => now.has(hash), height };
    },
  };
}

type Views = { net: BitcoinNet; wallet: BitcoinWallet; feeRate: () => bigint };

function senderOf({ net, wallet, feeRate }: Views, ask: Ask): BitcoinSender {
  return {
    chain: 'bitcoin',
    hotAddress: wallet.hotAddress,
    depositAddress: (index) => wallet.address('deposit', index),
    address: wallet.address,
    check: () => ask('check', () => undefined),
    balance: (_asset, address) =>
      ask('balance', () => units(net.unspentOf(address).reduce((sum, { amount }) => sum + amount, 0n))),
    usualCost: () => ask('usualCost', () => units(USUAL_VIRTUAL_BYTES * feeRate())),
    feeRate: () => ask('feeRate', feeRate),
    selectCoins: (order) => selectCoins(NETWORK, wallet, order),
    signSpend: (spend) => signed(wallet, spend),
    replacementFee: (txHash, virtualBytes) =>
      ask('replacementFee', () => net.replacementFee(txHash, virtualBytes)),
    broadcast: (raw) => askToBroadcast(ask, (): Broadcast => net.take(readBytes(raw))),
    status: (txHash) => ask(`status ${txHash.slice(0, 8)}`, () => statusOf(net, txHash)),
    height: () => ask('height', () => net.height),
    unspent: (outpoints) =>
      ask('unspent', () =>
        outpoints.map((outpoint) => {
          const found = net.unspent(outpoint);
          return found && { confirmations: net.height - found.height + 1, amount: found.amount };
        }),
      ),
    unspentOf: (address) => ask('unspentOf', () => ({ height: net.height, outputs: net.unspentOf(address) })),
    async received(address, from, to) {
      const blocks = await blocksOf(net, ask, from, to);
      return blocks
        .flatMap((block) => block.transactions.flatMap(paymentsOf))
        .filter((payment) => payment.address === address)
        .map(({ outpoint, amount }) => ({ outpoint, amount }));
    },
    // A node with an index tells it of all that is in its pool or was ever in a block.
    inputsOf: (txHash) =>
      ask('inputsOf', () => {
        const isTold = net.inPool(txHash) !== undefined || net.wasMined(txHash);
        return isTold ? [...(net.transaction(txHash)?.inputs ?? [])] : undefined;
      }),
    async findSpenders(outpoints, from, to) {
      const wanted = new Set(outpoints);
      const blocks = await blocksOf(net, ask, from, to);
      return blocks.flatMap(({ height, hash: blockHash, transactions }) =>
        transactions.flatMap(({ hash: txHash, inputs }) =>
          inputs
            .filter((outpoint) => wanted.has(outpoint))
            .map((outpoint) => ({ outpoint, txHash, height, blockHash })),
        ),
      );
    },
    finalizedHeight: () => ask('finalizedHeight', () => Math.max(0, net.height - FINAL_DEPTH)),
    close: async () => {},
  };
}

/** A block that the node does not have is no answer. */
const blocksOf = (net: BitcoinNet, ask: Ask, from: number, to: number): Promise<readonly BtcBlock[]> =>
  ask('blocks', () => {
    if (to > net.height) throw new Error(`no block ${to}`);
    return net.blocks.slice(from, Math.max(from, to + 1));
  });

function statusOf(net: BitcoinNet, txHash: string): TransactionStatus {
  const height = net.heightOf(txHash);
  const block = height === undefined ? undefined : net.blocks[height];
  if (height === undefined || block === undefined) {
    return { state: net.inPool(txHash) === undefined ? 'absent' : 'pending' };
  }
  const feePaid = units(net.transaction(txHash)?.fee ?? 0n);
  const confirmations = net.height - height + 1;
  return { state: 'mined', height, blockHash: block.hash, confirmations, succeeded: true, feePaid };
}

type Bytes = {
  inputs: string[];
  outputs: { address: string; amount: string }[];
  fee: string;
  virtualBytes: number;
};

/** Spends of P2WPKH: their sizes are known without a signature. */
const weightOf = (inputs: number, outputs: number): number => 42 + 272 * inputs + 124 * outputs;

function signed(wallet: BitcoinWallet, { coins, recipients, change, fee }: Spend): SignedSpend {
  const inside = coins.reduce((sum, { amount }) => sum + amount, 0n);
  const outputs = recipients.map(({ to, amount }) => ({ address: to, amount }));
  if (change !== null) {
    outputs.push({ address: wallet.address('change', change.index), amount: change.amount });
  }
  const paid = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  invariant(inside - paid === fee, 'the transaction pays the fee that was decided');
  const virtualBytes = Math.ceil(weightOf(coins.length, outputs.length) / 4);
  const bytes: Bytes = {
    inputs: coins.map(({ outpoint }) => outpoint),
    outputs: outputs.map(({ address, amount }) => ({ address, amount: amount.toString() })),
    fee: fee.toString(),
    virtualBytes,
  };
  const raw = JSON.stringify(bytes);
  const changeOutput = change === null ? null : recipients.length;
  return { raw, txHash: hashOf(raw), maxCost: fee, fee, virtualBytes, changeOutput };
}

function readBytes(raw: string): BtcTransaction {
  const { inputs, outputs, fee, virtualBytes } = JSON.parse(raw) as Bytes;
  return {
    hash: hashOf(raw),
    inputs,
    outputs: outputs.map(({ address, amount }) => ({ address, amount: units(amount) as Units })),
    fee: BigInt(fee),
    virtualBytes,
  };
}
