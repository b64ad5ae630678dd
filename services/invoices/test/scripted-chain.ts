import { createHash } from 'node:crypto';
import type { BalanceReader, Block, ChainReader, Payment, PendingWatch } from '@quittance/chains/chain';
import { RpcRefused } from '@quittance/chains/json-rpc';
import { type AssetSymbol, type Chain, nativeAsset } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';

export type Paying = {
  to: string;
  amount: bigint;
  asset?: AssetSymbol;
  tx?: string;
  index?: number;
  confirmationsMin?: number;
};

/** The content of a scripted block. Amounts are in base units. */
export type Script = {
  pay?: Paying[];
  /** Native money that a contract sends: it changes only a balance. */
  inside?: { to: string; amount: bigint; tx?: string }[];
  /** Native money that leaves an address. */
  spend?: { from: string; amount: bigint }[];
  time?: Date;
  /** Heights without a block before this one, as on Solana. */
  gap?: number;
};

/** What a chain reports beside its blocks. */
export type Abilities = {
  chain?: Chain;
  /** Ethereum: contract-sent money shows only in balances. */
  balances?: boolean;
  /** Payments in the mempool. */
  pending?: boolean;
};

type ScriptedBlock = Block & { inside: { to: string; amount: bigint; tx: string | null }[] };

/** A scripted chain: a list of blocks whose last ones can be replaced. */
export type ScriptedChain = ChainReader & {
  /** Adds a block for each script. */
  mine(...scripts: Script[]): Block[];
  /** Replaces the last `depth` blocks by scripted ones, by default as many empty ones. */
  reorg(depth: number, ...scripts: Script[]): Block[];
  /** A block shows a payment that it did not show at first, in place of what a contract sent to its address. */
  reveal(block: Block, payment: Paying): Payment;
  height(): number;
  /** Payments in the mempool, until `mine` has one of the same transaction, or `forget` drops them. */
  wait(...payments: Paying[]): Payment[];
  forget(txHash: string): void;
  /** The node does not answer. */
  away: boolean;
  /** The node reports blocks only up to this height. */
  lagsAt: number | undefined;
  /** The node reports a head but lacks the blocks above this height. */
  missesAbove: number | undefined;
  /** The mempool is larger than one read: new payments are not reported yet. */
  crowded: boolean;
  /** The node has no states below this height. */
  prunedBelow: number;
  /** How many balances were requested. */
  balancesRead: number;
};

let made = 0;
/** A unique transaction hash. */
export const newTx = (): string => digest(`tx ${++made}`);
const digest = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`;

export function scriptedChain(
  now: () => Date,
  { chain: name = 'ethereum', balances = true, pending = false }: Abilities = {},
): ScriptedChain {
  const blocks: ScriptedBlock[] = [];
  const waiting = new Map<string, Payment[]>();
  const native = nativeAsset[name];

  function paymentOf({ to, amount, asset = native, tx = newTx(), index = 0, ...rest }: Paying): Payment {
    const given = { txHash: tx, outputIndex: index, asset, address: to, amount: amount as Units };
    return { outpoint: `${tx}:${index}`, ...given, ...rest };
  }

  function add(script: Script): ScriptedBlock {
    const before = blocks.at(-1);
    const height = before === undefined ? 0 : before.height + 1 + (script.gap ?? 0);
    const parentHash = before?.hash ?? digest('nothing');
    const payments = (script.pay ?? []).map(paymentOf);
    for (const { txHash } of payments) waiting.delete(txHash ?? '');
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
  const tip = () => blocks.at(-1)?.height ?? -1;
  const top = () => Math.min(tip(), chain.lagsAt ?? Number.POSITIVE_INFINITY);
  const at = (height: number) => blocks.find((block) => block.height === height);
  const upTo = (height: number) => blocks.filter((block) => block.height <= height);

  function watchPending(): PendingWatch {
    let told = new Set<string>();
    return {
      async look() {
        await answer(undefined);
        const there = new Set(waiting.keys());
        if (chain.crowded) return { fresh: [], has: (tx) => there.has(tx), height: top(), isComplete: false };
        const fresh = [...waiting].filter(([tx]) => !told.has(tx)).flatMap(([, payments]) => payments);
        told = there;
        return { fresh, has: (tx) => there.has(tx), height: top() };
      },
    };
  }

  function balancesOf(addresses: readonly string[], height: number): Map<string, Units> {
    const held = new Map(addresses.map((address) => [address, 0n as Units]));
    const add = (address: string, amount: bigint) => {
      const before = held.get(address);
      if (before !== undefined) held.set(address, (before + amount) as Units);
    };
    for (const block of upTo(height)) {
      for (const payment of block.payments)
        if (payment.asset === native) add(payment.address, payment.amount);
      for (const { to, amount } of block.inside) add(to, amount);
      for (const spend of block.spends) add(spend.address, -spend.amount);
    }
    return held;
  }

  const balanceReader: BalanceReader = {
    balancesAt(addresses, height) {
      chain.balancesRead += addresses.length;
      return height < chain.prunedBelow
        ? Promise.reject(new RpcRefused('eth_getBalance', -32_000, 'missing trie node'))
        : answer(balancesOf(addresses, height));
    },
    internalSource: (address, blockHash) =>
      answer(
        blocks.find(({ hash }) => hash === blockHash)?.inside.find(({ to }) => to === address)?.tx ?? null,
      ),
  };

  const chain: ScriptedChain = {
    chain: name,
    away: false,
    lagsAt: undefined,
    missesAbove: undefined,
    crowded: false,
    prunedBelow: 0,
    balancesRead: 0,
    mine: (...scripts) => (scripts.length === 0 ? [{}] : scripts).map(add),
    reorg(depth, ...scripts) {
      blocks.splice(blocks.length - depth, depth);
      return (scripts.length === 0 ? Array.from({ length: depth }, () => ({})) : scripts).map(add);
    },
    reveal(block, paying) {
      const [known, payment] = [block as ScriptedBlock, paymentOf(paying)];
      known.inside = known.inside.filter(({ to }) => to !== paying.to);
      known.payments = [...known.payments, payment];
      return payment;
    },
    height: tip,
    wait(...payments) {
      const made = payments.map(paymentOf);
      for (const payment of made) {
        const tx = payment.txHash ?? '';
        waiting.set(tx, [...(waiting.get(tx) ?? []), payment]);
      }
      return made;
    },
    forget: (txHash) => void waiting.delete(txHash),
    check: () => answer(undefined),
    head: () => answer(upTo(top()).at(-1) as ScriptedBlock),
    block(height) {
      const isThere = height <= Math.min(top(), chain.missesAbove ?? Number.POSITIVE_INFINITY);
      return answer(isThere ? at(height) : undefined);
    },
    hashAt: (height) => answer(height <= top() ? at(height)?.hash : undefined),
    blocksAfter(height, limit) {
      const highest = Math.min(top(), chain.missesAbove ?? Number.POSITIVE_INFINITY);
      return answer(
        upTo(highest)
          .filter((block) => block.height > height)
          .slice(0, limit),
      );
    },
    ...(pending ? { watchPending } : {}),
    ...(balances ? { balances: balanceReader } : {}),
    close: () => Promise.resolve(),
  };
  chain.mine({});
  return chain;
}
