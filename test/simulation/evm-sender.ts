import type { Broadcast, EvmSender } from '@quittance/chains/chain';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import { type Ask, askToBroadcast } from './chain.ts';
import {
  depositAddress,
  type EvmBlock,
  GWEI,
  HOT,
  type Mined,
  priced,
  signed,
  type Transaction,
} from './evm-transactions.ts';

const GAS = { native: 21_000n, token: 65_000n } as const;

/** The parts of the chain that its node shows to a sender. */
export type EvmView = {
  blocks: readonly EvmBlock[];
  pool: ReadonlyMap<string, Transaction>;
  refusing: ReadonlySet<string>;
  balance(asset: AssetSymbol, address: string): bigint;
  leastFee(): bigint;
  nextNonce(address: string): number;
  nonceAt(address: string, height: number): number;
  head(): EvmBlock;
  finalized(): number;
  find(txHash: string): { block: EvmBlock; mined: Mined } | undefined;
  take(raw: string): Broadcast;
};

export function evmSender(
  { blocks, pool, refusing, balance, leastFee, nextNonce, nonceAt, head, finalized, find, take }: EvmView,
  ask: Ask,
): EvmSender {
  return {
    chain: 'ethereum',
    hotAddress: HOT,
    depositAddress,
    check: () => ask('check', () => undefined),
    balance: (asset, address) => ask('balance', () => units(balance(asset, address))),
    estimatedFee: () => ask('usualCost', () => units(GAS.native * leastFee())),
    fees: () => ask('fees', () => ({ maxFeePerGas: 2n * leastFee(), maxPriorityFeePerGas: GWEI })),
    estimateTransfer: (asset, to, amount) =>
      ask('estimateTransfer', () => {
        if (balance(asset, HOT) < amount)
          throw new Error(`the hot wallet has less ${asset} than it is to send`);
        return refusing.has(to) ? 'reverts' : GAS[assets[asset].type];
      }),
    signTransfer: async ({ asset, to, amount, nonce, gas, fees }) =>
      signed({ from: HOT, nonce, asset, source: HOT, to, amount, ...priced(gas, fees) }),
    signNativeSweep: async ({ index, balance: all, nonce, fees }) => {
      const maxFee = GAS.native * fees.maxFeePerGas;
      if (all <= 2n * maxFee) return 'not_worth_it';
      const from = depositAddress(index);
      const order = { from, nonce, asset: 'ETH', source: from, to: HOT, amount: all - maxFee } as const;
      return signed({ ...order, ...priced(GAS.native, fees) });
    },
    signTokenSweep: async ({ asset, index, amount, nonce, gas, fees }) =>
      signed({
        from: HOT,
        nonce,
        asset,
        source: depositAddress(index),
        to: HOT,
        amount,
        ...priced(gas, fees),
      }),
    broadcast: (raw) => askToBroadcast(ask, () => take(raw)),
    status: (txHash) =>
      ask('status', () => {
        const found = find(txHash);
        if (found === undefined) return { state: pool.has(txHash) ? 'pending' : 'absent' };
        return {
          state: 'mined',
          height: found.block.height,
          blockHash: found.block.hash,
          confirmations: head().height - found.block.height + 1,
          succeeded: found.mined.succeeded,
          feePaid: units(found.mined.feePaid),
        };
      }),
    nonce: (address, at) =>
      ask('nonce', () => {
        if (at === 'finalized') return nonceAt(address, finalized());
        const waiting = [...pool.values()]
          .filter(({ from }) => from === address)
          .map(({ nonce }) => nonce + 1);
        return Math.max(nextNonce(address), ...(at === 'pending' ? waiting : []));
      }),
    finalizedHeight: () => ask('finalizedHeight', finalized),
    findByNonce: (address, nonce, from, to) =>
      ask('findByNonce', () => {
        for (const block of blocks.slice(from, to + 1)) {
          for (const { transaction } of block.mined) {
            if (transaction.from !== address || transaction.nonce !== nonce) continue;
            return { txHash: transaction.hash, height: block.height, blockHash: block.hash };
          }
        }
        return undefined;
      }),
    close: async () => {},
  };
}
