import { type Block, blocksAfter, type ChainReader, type PendingWatch } from '@quittance/chains/chain';
import { RpcUnavailable } from '@quittance/chains/json-rpc';
import { quorumReader } from '@quittance/chains/quorum-reader';
import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import {
  balanceOf,
  checkName,
  type FakeBlock,
  type FakeNetwork,
  type FakeNetworkOptions,
  type FakeTransaction,
  fakeNetwork,
  newest,
  paymentsOf,
  type View,
} from './network.ts';
import { type FakeSender, senderOf } from './sender.ts';

/** A node of a fake network, with every way in which nodes mislead. It shows what the network has until told otherwise. */
export function fakeNode(network: FakeNetwork) {
  let away = false;
  let behind = 0;
  /** What it keeps to, whatever the network does. */
  let own: readonly FakeBlock[] | undefined;
  let forgotten: ReadonlySet<string> = new Set();

  const blocks = (): readonly FakeBlock[] => {
    if (away) throw new RpcUnavailable('fake', 'the node is away');
    const all = own ?? network.blocks();
    return behind === 0 ? all : all.slice(0, Math.max(1, all.length - behind));
  };
  const pool = () => network.pool().filter(({ txHash }) => !forgotten.has(txHash));
  const view: View = { network, blocks, pool };

  return {
    /** `named` is the network an operator believes the node to be on. */
    reader: (named = network.name): ChainReader => readerOf(view, named),
    sender: (seed = 'seed', named = network.name): FakeSender => senderOf(view, seed, named),

    away() {
      away = true;
    },
    /** It sees the network but for its newest blocks. */
    lag(by: number) {
      behind = by;
    },
    /** It sees nothing new. */
    stall() {
      own = blocks();
    },
    /** Its head is so much lower, and stays there. */
    goBack(by: number) {
      own = blocks().slice(0, -by);
      invariant(own.length > 0, 'the first block stays');
    },
    /** It has other, empty blocks in place of the newest, and so many more. */
    branchOff(depth: number, more = 0) {
      own = blocks().slice(0, -depth);
      for (let i = 0; i < depth + more; i++) own = [...own, network.makeBlock([], own.at(-1))];
    },
    /** It lets go of a waiting transaction that others keep. */
    forget(txHash: string) {
      forgotten = new Set([...forgotten, txHash]);
    },
    /** All is well again. */
    recover() {
      away = false;
      behind = 0;
      own = undefined;
      forgotten = new Set();
    },
  };
}

function readerOf({ network, blocks, pool }: View, named: string): ChainReader {
  const block = async (height: number): Promise<Block | undefined> => {
    const found = blocks()[height];
    if (found === undefined) return undefined;
    const { transactions, ...rest } = found;
    return {
      ...rest,
      payments: transactions.flatMap(paymentsOf),
      spends: transactions.flatMap(spendsOf(network)),
    };
  };

  return {
    chain: network.chain,
    check: async () => checkName(network, blocks, named),
    async head() {
      const { height, hash, time } = newest(blocks());
      return { height, hash, time };
    },
    block,
    blocksAfter: (height, limit) => blocksAfter(block, height, limit),
    hashAt: async (height) => blocks()[height]?.hash,
    ...(network.flavour === 'utxo'
      ? { watchPending: () => watchOf(blocks, pool) }
      : { balances: balancesOf(network, blocks) }),
    async close() {},
  };
}

function balancesOf(network: FakeNetwork, blocks: View['blocks']): NonNullable<ChainReader['balances']> {
  return {
    async balancesAt(addresses, height) {
      const seen = blocks();
      if (seen[height] === undefined) throw new RpcUnavailable('fake', `no block ${height}`);
      return new Map(
        addresses.map((address) => [address, balanceOf(seen.slice(0, height + 1), network.native, address)]),
      );
    },
    async internalSource(address, blockHash) {
      const block = blocks().find(({ hash }) => hash === blockHash);
      const source = block?.transactions.find(({ succeeds, outputs }) =>
        outputs.some((output) => succeeds && output.traceless === true && output.address === address),
      );
      return source?.txHash ?? null;
    },
  };
}

function watchOf(blocks: View['blocks'], pool: View['pool']): PendingWatch {
  let told: ReadonlySet<string> = new Set();
  return {
    async look() {
      const { height } = newest(blocks());
      const waiting = pool();
      const now = new Set(waiting.map(({ txHash }) => txHash));
      const fresh = waiting.filter(({ txHash }) => !told.has(txHash)).flatMap(paymentsOf);
      told = now;
      return { fresh, has: (txHash) => now.has(txHash), height };
    },
  };
}

/** As real readers tell them: of native money, where money may come without a trace. */
const spendsOf =
  (network: FakeNetwork) =>
  ({ txHash, debits }: FakeTransaction) => {
    const native = debits.filter(({ asset }) => asset === network.native);
    const [first] = native;
    if (network.flavour === 'utxo' || first === undefined) return [];
    const amount = native.reduce((sum, debit) => sum + debit.amount, 0n) as Units;
    return [{ txHash, address: first.address, amount }];
  };

export type FakeNode = ReturnType<typeof fakeNode>;

/** Nodes of one fake network that has ten blocks, and one reader of them all. */
export function someNodes(count: number, flavour: FakeNetworkOptions['flavour'] = 'account') {
  const network = fakeNetwork({ flavour });
  network.mine(10);
  const nodes = Array.from({ length: count }, () => fakeNode(network)) as [FakeNode, FakeNode, FakeNode];
  return { network, nodes, reader: quorumReader(nodes.map((node) => node.reader())) };
}

export const pay = (network: ReturnType<typeof fakeNetwork>, address = 'us', amount = 5n) =>
  network.pay([{ asset: network.native, address, amount: units(amount) }]);
