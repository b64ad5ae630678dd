import {
  type BitcoinWallet,
  type Branch,
  checkAddress,
  openBitcoinWallet,
} from '@quittance/chains/bitcoin/wallet';
import type { Block, ChainReader, PendingLook } from '@quittance/chains/chain';
import { units } from '@quittance/shared/money';
import { BitcoinNet, type BtcBlock } from './bitcoin-net.ts';
import { type BitcoinView, NETWORK, paymentsOf, senderOf, signerOf } from './bitcoin-sender.ts';
import type { Ask, SimChain, SimChainOptions } from './chain.ts';

const UNIT = 1_000_000n;
/** Satoshi a byte: what a node advises, and what blocks then ask for. */
const FEES = {
  usual: { advice: 3n, block: 1n },
  high: { advice: 24n, block: 20n },
} as const;
/** The operator's money comes in so many UTXOs: several transactions can be in flight at once. */
const HOT_UTXOS = 3n;

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

  const view: BitcoinView = { net, wallet, feeRate: () => FEES[fees].advice };
  return {
    kind: 'bitcoin',
    chain: 'bitcoin',
    assets: ['BTC'],
    minConfirmations: 3,
    settlesAfter: 3,
    unit: () => UNIT,
    blockMs: 600_000,

    reader: (ask) => readerOf(net, ask),
    sender: (ask) => senderOf(view, ask),
    signer: signerOf(wallet),

    depositAddress: (index) => wallet.address('deposit', index),
    hotAddress: wallet.hotAddress,
    isOurAddress: wallet.has,
    checkAddress: (text) => checkAddress(NETWORK, text),
    recipient: (n) => strangers().address('deposit', n),
    refuseAt() {},

    fundHot(_asset, amount) {
      const share = amount / HOT_UTXOS;
      for (let i = 0n; i < HOT_UTXOS; i++) {
        const utxo = i === 0n ? amount - share * (HOT_UTXOS - 1n) : share;
        net.pay([{ address: wallet.hotAddress, amount: units(utxo) }]);
      }
      net.mine(now());
      floor = net.height;
    },

    pay({ to, amount }) {
      const paid = { address: to, amount: units(amount) };
      const change = { address: strangers().address('change', 0), amount: units(UNIT) };
      // Not by chance: the prologue of every scenario is the same.
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
