import type { TransactionStatus } from '@quittance/chains/chain';
import type { SolanaSender } from '@quittance/chains/solana/sender';
import type { SolanaSigner } from '@quittance/chains/solana/signer';
import { feeOf, feesAt, type Lifetime, type SolanaTransferOrder } from '@quittance/chains/solana/transaction';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import { type Ask, askToBroadcast } from './chain.ts';
import { address, DEPOSIT } from './solana-addresses.ts';
import { LIFETIME, type SolanaNet, TOKEN_RENT, WALLET_RENT } from './solana-net.ts';
import { readBytes, signed, transferOf } from './solana-transactions.ts';

/** As the production code asks for. */
const TOKEN_SWEEP_UNITS = 100_000;
const TOKEN_ACCOUNT_UNITS = 10_000;
/** The share of sent transactions that never reach a block producer. */
const LOST = 0.1;

export type SolanaView = {
  net: SolanaNet;
  hot: string;
  unforeseen: ReadonlySet<string>;
  random: () => number;
  priorityFee: () => bigint;
};

/** Signs with words in place of keys. */
export function signerOf(hot: string): SolanaSigner {
  return {
    addresses: { hotAddress: hot, depositAddress: (index) => address(DEPOSIT, index) },
    signTransfer: async (order) => signed(transferOf(hot, order), order.lifetime),
    async signNativeSweep({ index, balance: all, feeFrom, lifetime, priorityFee: price }) {
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
            priorityFee: isPaidByHot ? price : 0n,
          },
          rentMax: 0n,
        },
        lifetime,
      );
    },
    async signTokenSweep({ asset, index, accounts, tokenAccountRent, lifetime, priorityFee: price }) {
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
            fee: feeOf(2, work, price),
            priorityFee: price,
          },
          rentMax: tokenAccountRent,
        },
        lifetime,
      );
    },
  };
}

export function senderOf({ net, hot, unforeseen, random, priorityFee }: SolanaView, ask: Ask): SolanaSender {
  const balance = (asset: AssetSymbol, owner: string) => units(net.balance(asset, owner, 'finalized'));

  /** Throws when the hot wallet has too little, now or as of the last final block. */
  function assertHotHas({ asset, amount, tokenAccountRent, priorityFee: price }: SolanaTransferOrder): void {
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
    check: () => ask('check', () => undefined),
    balance: (asset, owner) => ask('balance', () => balance(asset, owner)),
    estimatedFee: (asset) =>
      ask('usualCost', () => {
        const { type } = assets[asset];
        return units(feesAt(priorityFee()).transfer[type] + (type === 'token' ? TOKEN_RENT : 0n));
      }),
    lifetime: () =>
      ask('lifetime', (): Lifetime => {
        return { blockhash: net.tip.hash, lastValidBlockHeight: net.tip.height + LIFETIME };
      }),
    priorityFee: () => ask('priorityFee', priorityFee),
    rents: () => ask('rents', () => ({ wallet: units(WALLET_RENT), tokenAccount: units(TOKEN_RENT) })),

    async tryTransfer(order) {
      const first = await ask('simulate', () => trial(order));
      if (first === undefined) throw new Error('the hot wallet cannot pay this now');
      if (first) return 'works';
      await ask('balances', () => assertHotHas(order));
      return (await ask('simulate', () => trial(order))) === true ? 'works' : 'refused';
    },
    tokenAccounts: (asset, owner) =>
      ask('tokenAccounts', () => {
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
