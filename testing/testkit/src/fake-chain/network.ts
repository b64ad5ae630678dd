import { createHash } from 'node:crypto';
import { type Payment, WrongNetwork } from '@quittance/chains/chain';
import { type AssetSymbol, type Chain, nativeAsset } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';

const BLOCK_SECONDS = 10;
const STARTED_AT = Date.UTC(2026, 0, 1);

/** `utxo`: transactions spend outputs, and wait where all can see them. `account`: they spend balances, and may fail. */
export type Flavour = 'utxo' | 'account';

export type FakeOutput = {
  asset: AssetSymbol;
  address: string;
  amount: Units;
  /** Sent by a contract: it is in the balance, and no payment of the block. Of the account flavour alone. */
  traceless?: boolean;
};

export type FakeTransaction = {
  txHash: string;
  /** What no other transaction of the chain may have too: outputs it spends, or the number it has of its sender's. */
  claims: readonly string[];
  outputs: readonly FakeOutput[];
  /** What leaves whom, the fee included when it succeeds; the fee alone when it does not. Customers have no end of money. */
  debits: readonly { asset: AssetSymbol; address: string; amount: Units }[];
  fee: Units;
  succeeds: boolean;
};

export type FakeBlock = {
  height: number;
  hash: string;
  parentHash: string;
  time: Date;
  transactions: readonly FakeTransaction[];
};

export type FakeNetworkOptions = {
  flavour: Flavour;
  /** `bitcoin` for the UTXO flavour, else `ethereum`. */
  chain?: Chain;
  /** Nodes of another name are on the wrong network. */
  name?: string;
};

export type FakeNetwork = ReturnType<typeof fakeNetwork>;

/**
 * A chain in memory, for tests: what happens on it is said, and seen through its nodes (node.ts). Like a real one it
 * is reorganised only to a longer chain.
 */
export function fakeNetwork({ flavour, chain, name = 'fake' }: FakeNetworkOptions) {
  const native = nativeAsset[chain ?? (flavour === 'utxo' ? 'bitcoin' : 'ethereum')];
  let salt = 0;
  let customers = 0;
  let blocks: FakeBlock[] = [makeBlock([], undefined)];
  let pool: FakeTransaction[] = [];

  function makeBlock(transactions: readonly FakeTransaction[], parent: FakeBlock | undefined): FakeBlock {
    const height = parent === undefined ? 0 : parent.height + 1;
    salt += 1;
    return {
      height,
      hash: hashOf(`${name} ${height} ${salt}`),
      parentHash: parent?.hash ?? hashOf('nothing'),
      time: new Date(STARTED_AT + height * BLOCK_SECONDS * 1000),
      transactions,
    };
  }

  /** Those of the pool that can be mined, in their order; of two that claim the same, the first. */
  function mineable(onto: readonly FakeBlock[]): FakeTransaction[] {
    const claimed = claimsOf(onto);
    return pool.filter(({ claims }) => {
      const free = claims.every((claim) => !claimed.has(claim));
      if (free) for (const claim of claims) claimed.add(claim);
      return free;
    });
  }

  function mine(count = 1): void {
    for (let i = 0; i < count; i++) {
      blocks = [...blocks, makeBlock(mineable(blocks), blocks.at(-1))];
      const claimed = claimsOf(blocks);
      pool = pool.filter(({ claims }) => claims.every((claim) => !claimed.has(claim)));
    }
  }

  function send(transaction: FakeTransaction): void {
    pool = [...pool, transaction];
  }

  return {
    flavour,
    chain: chain ?? (flavour === 'utxo' ? ('bitcoin' as const) : ('ethereum' as const)),
    name,
    native,

    /** The chain as the network has it; what a node says may differ. */
    blocks: () => blocks as readonly FakeBlock[],
    pool: () => pool as readonly FakeTransaction[],

    /** Blocks with what waits in the pool, the first of them with all of it. */
    mine,

    /** Sends what a customer pays, to as many as are named, in one transaction. */
    pay(outputs: readonly FakeOutput[], { succeeds = true }: { succeeds?: boolean } = {}): string {
      customers += 1;
      const txHash = hashOf(`${name} customer ${customers}`);
      send({ txHash, claims: [`customer's ${customers}`], outputs, debits: [], fee: 1n as Units, succeeds });
      return txHash;
    },

    send,

    /** A waiting transaction is forgotten by everybody. */
    drop(txHash: string): void {
      pool = pool.filter((one) => one.txHash !== txHash);
    },

    /**
     * Takes the newest `depth` blocks away and puts one more in their place. Their transactions come back in the first of
     * the new blocks (`again`), wait in the pool (`wait`) or are forgotten (`drop`).
     */
    reorg(depth: number, fate: 'again' | 'wait' | 'drop'): void {
      invariant(depth >= 1 && depth < blocks.length, 'the first block stays');
      const away = blocks.slice(-depth).flatMap((block) => block.transactions);
      blocks = blocks.slice(0, -depth);
      const waiting = pool;
      pool = fate === 'again' ? [...away, ...waiting] : [];
      mine(depth + 1);
      if (fate !== 'again') pool = fate === 'wait' ? [...away, ...waiting] : waiting;
    },

    /** A block on top of any: nodes on a branch of their own mine it. */
    makeBlock,
  };
}

function claimsOf(blocks: readonly FakeBlock[]): Set<string> {
  return new Set(blocks.flatMap((block) => block.transactions.flatMap((transaction) => transaction.claims)));
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What one node has of its network. */
export type View = {
  network: FakeNetwork;
  blocks(): readonly FakeBlock[];
  pool(): readonly FakeTransaction[];
};

export function paymentsOf({ txHash, outputs, succeeds }: FakeTransaction): Payment[] {
  if (!succeeds) return [];
  return outputs.flatMap(({ asset, address, amount, traceless }, outputIndex) =>
    traceless === true
      ? []
      : [{ outpoint: `${txHash}:${outputIndex}`, txHash, outputIndex, asset, address, amount }],
  );
}

export const paymentsIn = (blocks: readonly FakeBlock[]): Payment[] =>
  blocks.flatMap((block) => block.transactions.flatMap(paymentsOf));

export function balanceOf(blocks: readonly FakeBlock[], asset: AssetSymbol, address: string): Units {
  const isIt = (one: { asset: AssetSymbol; address: string }) =>
    one.asset === asset && one.address === address;
  let balance = 0n;
  for (const { succeeds, outputs, debits } of blocks.flatMap((block) => block.transactions)) {
    if (succeeds) for (const output of outputs.filter(isIt)) balance += output.amount;
    for (const debit of debits.filter(isIt)) balance -= debit.amount;
  }
  return balance as Units;
}

export const newest = (blocks: readonly FakeBlock[]): FakeBlock => blocks[blocks.length - 1] as FakeBlock;

export function checkName(network: FakeNetwork, blocks: View['blocks'], named: string): void {
  newest(blocks());
  if (network.name !== named)
    throw new WrongNetwork(`the node is on ${network.name}, configured is ${named}`);
}
