import { createHash } from 'node:crypto';
import { blocksAfter } from '@quittance/chains/blocks-after';
import type { Block, ChainReader, Payment } from '@quittance/chains/chain';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';

/** What a block of the script holds. Amounts in smallest units. */
export type Script = {
  pay?: { to: string; amount: bigint; asset?: AssetSymbol; tx?: string; index?: number }[];
  /** Native money sent by a contract: it changes a balance and shows nowhere else. */
  inside?: { to: string; amount: bigint; tx?: string }[];
  /** Native money that leaves an address. */
  spend?: { from: string; amount: bigint }[];
  time?: Date;
};

type ScriptedBlock = Block & { inside: { to: string; amount: bigint; tx: string | null }[] };

/** A chain written by hand: a list of blocks, of which the last may be replaced by others. */
export type ScriptedChain = ChainReader & {
  /** Adds a block for each script. */
  mine(...scripts: Script[]): Block[];
  /** Replaces the last `depth` blocks by those of the scripts; as many as were replaced, if none are given. */
  reorg(depth: number, ...scripts: Script[]): Block[];
  height(): number;
  /** The node answers nothing. */
  away: boolean;
  /** The node says no more than the blocks up to here. */
  lagsAt: number | undefined;
  /** The node names a head whose blocks it does not have above here. */
  missesAbove: number | undefined;
  /** The node has thrown away the states below here. */
  prunedBelow: number;
  /** How many balances were asked for. */
  balancesRead: number;
};

let made = 0;
/** A transaction hash like no other. */
export const newTx = (): string => digest(`tx ${++made}`);
const digest = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`;

export function scriptedChain(now: () => Date): ScriptedChain {
  const blocks: ScriptedBlock[] = [];

  function add(script: Script): ScriptedBlock {
    const height = blocks.length;
    const parentHash = blocks.at(-1)?.hash ?? digest('nothing');
    const payments = (script.pay ?? []).map(
      ({ to, amount, asset = 'ETH', tx = newTx(), index = 0 }): Payment => {
        const given = { txHash: tx, outputIndex: index, asset, address: to, amount: amount as Units };
        return { outpoint: `${tx}:${index}`, ...given };
      },
    );
    const block: ScriptedBlock = {
      height,
      hash: digest(`${parentHash} ${++made}`),
      parentHash,
      time: script.time ?? now(),
      payments,
      spends: (script.spend ?? []).map(({ from, amount }) => ({
        txHash: newTx(),
        address: from,
        amount: amount as Units,
      })),
      inside: (script.inside ?? []).map(({ to, amount, tx = null }) => ({ to, amount, tx })),
    };
    blocks.push(block);
    return block;
  }

  const answer = <T>(value: T): Promise<T> =>
    chain.away ? Promise.reject(new Error('the node does not answer')) : Promise.resolve(value);
  const top = () => Math.min(blocks.length - 1, chain.lagsAt ?? Number.POSITIVE_INFINITY);

  function balance(address: string, height: number): Units {
    let total = 0n;
    for (const block of blocks.slice(0, height + 1)) {
      for (const payment of block.payments) {
        if (payment.address === address && payment.asset === 'ETH') total += payment.amount;
      }
      for (const { to, amount } of block.inside) if (to === address) total += amount;
      for (const spend of block.spends) if (spend.address === address) total -= spend.amount;
    }
    return total as Units;
  }

  const chain: ScriptedChain = {
    chain: 'ethereum',
    away: false,
    lagsAt: undefined,
    missesAbove: undefined,
    prunedBelow: 0,
    balancesRead: 0,
    mine: (...scripts) => (scripts.length === 0 ? [{}] : scripts).map(add),
    reorg(depth, ...scripts) {
      blocks.splice(blocks.length - depth, depth);
      return (scripts.length === 0 ? Array.from({ length: depth }, () => ({})) : scripts).map(add);
    },
    height: () => blocks.length - 1,
    check: () => answer(undefined),
    head: () => answer(blocks[top()] as ScriptedBlock),
    block(height) {
      const isThere = height <= Math.min(top(), chain.missesAbove ?? Number.POSITIVE_INFINITY);
      return answer(isThere ? blocks[height] : undefined);
    },
    hashAt: (height) => answer(height <= top() ? blocks[height]?.hash : undefined),
    blocksAfter: (height, limit) => blocksAfter((at) => chain.block(at), height, limit),
    balances: {
      balancesAt(addresses, height) {
        chain.balancesRead += addresses.length;
        return height < chain.prunedBelow
          ? Promise.reject(new Error('missing trie node'))
          : answer(new Map(addresses.map((address) => [address, balance(address, height)])));
      },
      internalSource: (address, blockHash) =>
        answer(
          blocks.find(({ hash }) => hash === blockHash)?.inside.find(({ to }) => to === address)?.tx ?? null,
        ),
    },
    close: () => Promise.resolve(),
  };
  chain.mine({});
  return chain;
}
