import type { Block, ChainReader, Payment, PendingLook, TransactionStatus } from '@quittance/chains/chain';
import { checkAddress } from '@quittance/chains/solana/address';
import type { SolanaNetwork } from '@quittance/chains/solana/network';
import type { SolanaSender } from '@quittance/chains/solana/sender';
import {
  feeOf,
  feesAt,
  type Lifetime,
  type SolanaSigned,
  type SolanaTransferOrder,
} from '@quittance/chains/solana/transaction';
import { openWallet, type SolanaSigner } from '@quittance/chains/solana/wallet';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import { type Ask, askToBroadcast, type SimChain, type SimChainOptions } from './chain.ts';
import {
  FINAL_LAG,
  hashOf,
  isOurs,
  LIFETIME,
  SolanaNet,
  type SolBlock,
  type SolMined,
  type SolTransaction,
  TOKEN_RENT,
  WALLET_RENT,
} from './solana-net.ts';

/** Millionths of a lamport for each unit of work: what a node advises, and what blocks then ask for. */
const PRICES = {
  usual: { advice: 10_000n, least: 0n },
  high: { advice: 400_000n, least: 300_000n },
} as const;
const UNITS_OF = { SOL: 10n ** 8n, USDC_SOL: 10n ** 6n } as const;
/** As the production code asks for. */
const TOKEN_SWEEP_UNITS = 100_000;
const TOKEN_ACCOUNT_UNITS = 10_000;
/** So much of what a node takes never gets to whoever makes the next block. */
const LOST = 0.1;

const DEPOSIT = 'deposit';
const HOT = 'hot';

/** Keys are slow, and everybody may know these: what a process derived once it keeps. Nothing is signed here. */
const known = new Map<string, string>();
/** Of those the ones whose keys are our wallet's. */
const ours = new Set<string>();
function address(role: typeof DEPOSIT | typeof HOT | 'stranger', index: number): string {
  const key = `${role} ${index}`;
  const found = known.get(key) ?? derive(role, index);
  known.set(key, found);
  if (role !== 'stranger') ours.add(found);
  return found;
}

let wallets: { ours: ReturnType<typeof openWallet>; strangers: ReturnType<typeof openWallet> } | undefined;
function derive(role: typeof DEPOSIT | typeof HOT | 'stranger', index: number): string {
  wallets ??= {
    ours: openWallet('test test test test test test test test test test test junk'),
    strangers: openWallet(`${'abandon '.repeat(11)}about`),
  };
  if (role === HOT) return wallets.ours.hotAddress;
  return (role === DEPOSIT ? wallets.ours : wallets.strangers).depositAddress(index);
}

/** Solana for the simulator; bytes are words that say what they move, in place of signatures. */
export function createSolanaChain({ random, now }: SimChainOptions): SimChain<'solana'> {
  const net = new SolanaNet(now(), random);
  const network: SolanaNetwork = { name: 'local', usdcMint: address('stranger', 1_000_000) };
  let fees: keyof typeof PRICES = 'usual';
  const hot = address(HOT, 0);
  /** Recipients whose refusal a trial does not find. */
  const unforeseen = new Set<string>();

  const mine = (blocks: number) => {
    for (let i = 0; i < blocks; i++) net.mine(now());
  };
  const views = { net, hot, unforeseen, random, unitPrice: () => PRICES[fees].advice };
  return {
    kind: 'solana',
    chain: 'solana',
    assets: ['SOL', 'USDC_SOL'],
    minConfirmations: 1,
    settlesAfter: 1 + FINAL_LAG,
    unit: (asset) => UNITS_OF[asset as keyof typeof UNITS_OF],
    blockMs: 3_000,

    reader: (ask) => readerOf(net, ask),
    sender: (ask) => senderOf(views, ask),

    depositAddress: (index) => address(DEPOSIT, index),
    hotAddress: hot,
    isOurAddress: (text) => ours.has(text),
    checkAddress: (text) => checkAddress(network, text),
    recipient: (n) => address('stranger', n),
    refuseAt(to) {
      net.refuseAt(to);
      if (random() < 0.5) unforeseen.add(to);
    },

    fundHot(asset, amount) {
      net.pay({ asset, to: hot, amount });
      mine(1 + FINAL_LAG);
    },
    pay: (order) => net.pay(order),
    replace: (txHash) => net.takeBack(txHash),
    forgetPool: () => net.loseWaiting(),
    mineOld: () => net.mineOld(now()),
    mine: (blocks = 1) => mine(blocks),
    reorg: (depth, fate) => net.reorg(now(), depth, fate),
    height: () => net.tip.height,
    isWaiting: () => net.isWaiting() || net.confirmedBlocks().some(({ mined }) => mined.length > 0),
    setFees(level) {
      fees = level;
      net.leastPrice = PRICES[level].least;
    },

    truth: () =>
      net.blocks.flatMap((block) =>
        block.mined.flatMap((one) =>
          paymentsOf(one).map(({ outpoint, txHash, asset, address: to, amount }) => ({
            txHash: txHash ?? '',
            outpoint,
            asset,
            to,
            amount,
            height: block.slot,
            // What is not final does not count yet.
            confirmations: Math.max(0, net.final.slot - block.slot + 1),
            isOurs: isOurs(one.transaction),
          })),
        ),
      ),
    balance: (asset, owner) => net.balance(asset, owner, 'confirmed'),
  };
}

/** By what everybody has more; named by the place of the account among those of the transaction. */
function paymentsOf({ transaction, succeeded }: SolMined): Payment[] {
  if (!succeeded) return [];
  const { hash, signers, moves } = transaction;
  const owners = [...new Set([...signers, ...moves.flatMap(({ from, to }) => [from, to])])];
  const gains = new Map<string, { asset: AssetSymbol; owner: string; amount: bigint }>();
  const add = (asset: AssetSymbol, owner: string, amount: bigint) => {
    const gain = gains.get(`${asset} ${owner}`) ?? { asset, owner, amount: 0n };
    gain.amount += amount;
    gains.set(`${asset} ${owner}`, gain);
  };
  for (const { asset, from, to, amount } of moves) {
    add(asset, from, -amount);
    add(asset, to, amount);
  }
  return [...gains.values()]
    .filter(({ amount }) => amount > 0n)
    .map(({ asset, owner, amount }) => {
      const outputIndex = owners.indexOf(owner);
      const outpoint = `${hash}:${outputIndex}`;
      return { outpoint, txHash: hash, outputIndex, asset, address: owner, amount: units(amount) };
    });
}

function blockOf({ slot, hash, parentHash, time, mined }: SolBlock): Block {
  return { height: slot, hash, parentHash, time, payments: mined.flatMap(paymentsOf), spends: [] };
}

function readerOf(net: SolanaNet, ask: Ask): ChainReader {
  const atSlot = (slot: number) => net.finalBlocks().findLast((block) => block.slot === slot);
  return {
    chain: 'solana',
    check: async () => {},
    head: () => ask('head', () => ({ height: net.final.slot, hash: net.final.hash, time: net.final.time })),
    block: (height) =>
      ask('block', () => {
        const found = atSlot(height);
        return found && blockOf(found);
      }),
    async blocksAfter(height, limit) {
      const slots = await ask('blocksAfter', () =>
        net
          .finalBlocks()
          .filter(({ slot }) => slot > height)
          .slice(0, limit)
          .map(({ slot }) => slot),
      );
      const blocks: Block[] = [];
      for (const slot of slots) {
        const found = await ask('block', () => atSlot(slot));
        if (found === undefined) throw new Error(`no block at slot ${slot}, which was named`);
        blocks.push(blockOf(found));
      }
      return blocks;
    },
    hashAt: (height) => ask('hashAt', () => atSlot(height)?.hash),
    watchPending() {
      let told = new Set<string>();
      return {
        look: (): Promise<PendingLook> =>
          ask('pending', () => {
            const waiting = net.confirmedBlocks();
            const fresh = waiting
              .filter(({ hash }) => !told.has(hash))
              .flatMap(({ mined }) => mined.flatMap(paymentsOf));
            told = new Set(waiting.map(({ hash }) => hash));
            const hashes = new Set(
              waiting.flatMap(({ mined }) => mined.map(({ transaction }) => transaction.hash)),
            );
            return { fresh, has: (txHash) => hashes.has(txHash), height: net.final.slot };
          }),
      };
    },
    close: async () => {},
  };
}

type Views = {
  net: SolanaNet;
  hot: string;
  unforeseen: ReadonlySet<string>;
  random: () => number;
  unitPrice: () => bigint;
};

function senderOf({ net, hot, unforeseen, random, unitPrice }: Views, ask: Ask): SolanaSender {
  const balance = (asset: AssetSymbol, owner: string) => units(net.balance(asset, owner, 'finalized'));

  /** Throws when the hot wallet has too little, now or as of the last final block. */
  function assertHotHas({ asset, amount, tokenAccountRent, unitPrice: price }: SolanaTransferOrder): void {
    const { type } = assets[asset];
    const fee = feesAt(price).transfer[type] + WALLET_RENT;
    const cost = type === 'token' ? fee + tokenAccountRent : fee + amount;
    for (const at of ['confirmed', 'finalized'] as const) {
      if (net.balance('SOL', hot, at) >= cost && net.balance(asset, hot, at) >= amount) continue;
      throw new Error(`the hot wallet has less ${asset} than it is to send`);
    }
  }

  /** A recipient whose refusal is not foreseen passes a trial. */
  function trial(order: SolanaTransferOrder): boolean | undefined {
    const tried = transferOf(hot, order).transaction;
    if (!unforeseen.has(order.to)) return net.trial(tried)?.succeeded;
    const moves = tried.moves.map((move) => ({ ...move, to: address('stranger', 0) }));
    const opens = tried.opens.map(({ asset }) => ({ asset, owner: address('stranger', 0) }));
    return net.trial({ ...tried, moves, opens })?.succeeded;
  }

  return {
    chain: 'solana',
    hotAddress: hot,
    depositAddress: (index) => address(DEPOSIT, index),
    check: () => ask('check', () => undefined),
    balance: (asset, owner) => ask('balance', () => balance(asset, owner)),
    usualCost: (asset) =>
      ask('usualCost', () => {
        const { type } = assets[asset];
        return units(feesAt(unitPrice()).transfer[type] + (type === 'token' ? TOKEN_RENT : 0n));
      }),
    lifetime: () =>
      ask('lifetime', (): Lifetime => {
        return { blockhash: net.tip.hash, lastValidBlockHeight: net.tip.height + LIFETIME };
      }),
    unitPrice: () => ask('unitPrice', unitPrice),
    rents: () => ask('rents', () => ({ wallet: units(WALLET_RENT), tokenAccount: units(TOKEN_RENT) })),

    async tryTransfer(order) {
      const first = await ask('simulate', () => trial(order));
      if (first === undefined) throw new Error('the hot wallet cannot pay this now');
      if (first) return 'works';
      await ask('balances', () => assertHotHas(order));
      return (await ask('simulate', () => trial(order))) === true ? 'works' : 'refused';
    },
    signTransfer: async (order) => signed(transferOf(hot, order), order.lifetime),
    async signNativeSweep({ index, balance: all, feeFrom, lifetime, unitPrice: price }) {
      const from = address(DEPOSIT, index);
      const isPaidByHot = feeFrom === 'hot';
      const fee = feesAt(price).sweep.native[feeFrom];
      const amount = isPaidByHot ? all : all - fee;
      return signed(
        {
          transaction: {
            signers: isPaidByHot ? [hot, from] : [from],
            blockhash: lifetime.blockhash,
            moves: [{ asset: 'SOL', from, to: hot, amount }],
            opens: [],
            fee,
            unitPrice: isPaidByHot ? price : 0n,
          },
          rentMax: 0n,
        },
        lifetime,
      );
    },
    async signTokenSweep({ asset, index, accounts, tokenAccountRent, lifetime, unitPrice: price }) {
      const from = address(DEPOSIT, index);
      const work = TOKEN_SWEEP_UNITS + accounts.length * TOKEN_ACCOUNT_UNITS;
      const amount = accounts.reduce((sum, one) => sum + one.amount, 0n);
      return signed(
        {
          transaction: {
            signers: [hot, from],
            blockhash: lifetime.blockhash,
            moves: [{ asset, from, to: hot, amount }],
            opens: [{ asset, owner: hot }],
            fee: feeOf({ signers: [NOBODY, NOBODY], units: work, unitPrice: price }),
            unitPrice: price,
          },
          rentMax: tokenAccountRent,
        },
        lifetime,
      );
    },
    tokenAccounts: (asset, index) =>
      ask('tokenAccounts', () => {
        const owner = address(DEPOSIT, index);
        const amount = balance(asset, owner);
        return amount === 0n ? [] : [{ address: `${asset} of ${owner}`, amount }];
      }),

    broadcast: (raw) =>
      askToBroadcast(ask, () => {
        if (random() >= LOST) net.take(readBytes(raw));
        return 'accepted';
      }),
    status: (txHash) => ask(`status ${txHash.slice(0, 8)}`, () => statusOf(net, txHash)),
    nonInclusion: (txHash, lastValidBlockHeight, finalizedWhenSigned) =>
      ask(`isDead ${txHash.slice(0, 8)}`, () => {
        if (net.final.height <= lastValidBlockHeight) return 'unproven';
        if (net.find(txHash) !== undefined) return 'included';
        const isInNone = net
          .finalBlocks()
          .filter(({ slot }) => slot >= finalizedWhenSigned)
          .every(({ mined }) => mined.every(({ transaction }) => transaction.hash !== txHash));
        return isInNone ? 'proven' : 'included';
      }),
    signatures: (after, limit) =>
      ask('signatures', () => {
        const all = net
          .finalBlocks()
          .flatMap(({ mined }) => mined.map(({ transaction }) => transaction))
          .filter(({ signers, moves }) => signers.includes(hot) || moves.some(({ to }) => to === hot))
          .map(({ hash }) => hash);
        return all.slice(after === null ? 0 : all.indexOf(after) + 1).slice(-limit);
      }),
    isSignedByHot: (txHash) =>
      ask('isSignedByHot', () => net.find(txHash)?.mined.transaction.signers.includes(hot) === true),
    finalizedHeight: () => ask('finalizedHeight', () => net.final.slot),
    close: async () => {},
  };
}

/** Mined is final: what is only voted for may still be dropped. What waits for a block no node tells of. */
function statusOf(net: SolanaNet, txHash: string): TransactionStatus {
  const found = net.find(txHash);
  if (found === undefined) return { state: 'absent' };
  const { block, mined } = found;
  if (block.slot > net.final.slot) return { state: 'pending' };
  return {
    state: 'mined',
    height: block.slot,
    blockHash: block.hash,
    confirmations: net.final.slot - block.slot + 1,
    succeeded: mined.succeeded,
    feePaid: units(mined.feePaid),
  };
}

const NOBODY: SolanaSigner = { address: '', sign: () => new Uint8Array() };

type Unsigned = { transaction: Omit<SolTransaction, 'hash'>; rentMax: bigint };

function transferOf(hot: string, order: SolanaTransferOrder): Unsigned & { transaction: SolTransaction } {
  const { asset, to, amount, tokenAccountRent, lifetime, unitPrice } = order;
  const { type } = assets[asset];
  return {
    transaction: {
      hash: '',
      signers: [hot],
      blockhash: lifetime.blockhash,
      moves: [{ asset, from: hot, to, amount }],
      opens: type === 'token' ? [{ asset, owner: to }] : [],
      fee: feesAt(unitPrice).transfer[type],
      unitPrice,
    },
    rentMax: type === 'token' ? tokenAccountRent : 0n,
  };
}

type Bytes = Omit<SolTransaction, 'hash' | 'fee' | 'unitPrice' | 'moves'> & {
  moves: { asset: AssetSymbol; from: string; to: string; amount: string }[];
  fee: string;
  unitPrice: string;
};

function signed({ transaction, rentMax }: Unsigned, lifetime: Lifetime): SolanaSigned {
  const { signers, blockhash, moves, opens, fee, unitPrice } = transaction;
  const bytes: Bytes = {
    signers,
    blockhash,
    moves: moves.map((move) => ({ ...move, amount: move.amount.toString() })),
    opens,
    fee: fee.toString(),
    unitPrice: unitPrice.toString(),
  };
  const raw = JSON.stringify(bytes);
  return {
    raw,
    txHash: hashOf(raw),
    maxCost: units(fee + rentMax) as Units,
    rentMax: units(rentMax) as Units,
    validToHeight: lifetime.lastValidBlockHeight,
  };
}

function readBytes(raw: string): SolTransaction {
  const { signers, blockhash, moves, opens, fee, unitPrice } = JSON.parse(raw) as Bytes;
  return {
    hash: hashOf(raw),
    signers,
    blockhash,
    moves: moves.map((move) => ({ ...move, amount: BigInt(move.amount) })),
    opens,
    fee: BigInt(fee),
    unitPrice: BigInt(unitPrice),
  };
}
