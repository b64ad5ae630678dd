import { createHash } from 'node:crypto';
import {
  type Block,
  blocksAfter,
  type ChainReader,
  type ChainSender,
  type PendingWatch,
  paymentOf,
  type SignedTransaction,
  type TransactionStatus,
  WrongNetwork,
} from '@quittance/chains/chain';
import { RpcUnavailable } from '@quittance/chains/json-rpc';
import { quorumReader } from '@quittance/chains/quorum-reader';
import { type Units, units } from '@quittance/shared/money';

const FEE = units(21_000n);
const FINAL_DEPTH = 6;

/** Pays one address. `traceless`: sent by a contract, so it is in the balance and no payment of the block. */
type FakeTransaction = { txHash: string; address: string; amount: Units; traceless: boolean };
type FakeBlock = Omit<Block, 'payments' | 'spends'> & { transactions: readonly FakeTransaction[] };
type Order = { to: string; amount: Units; nonce: number };
export type FakeSender = ChainSender & { sign(order: Order): Promise<SignedTransaction> };

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A chain of Ether in memory, as all nodes together have it; each sees it in its own way. It begins with ten blocks. */
function fakeNetwork() {
  let salt = 0;
  let blocks: FakeBlock[] = [];
  let pool: FakeTransaction[] = [];

  function blockOn(parent: FakeBlock | undefined, transactions: FakeTransaction[] = []): FakeBlock {
    const height = parent === undefined ? 0 : parent.height + 1;
    salt += 1;
    return {
      height,
      hash: hashOf(`block ${salt}`),
      parentHash: parent?.hash ?? hashOf('nothing'),
      time: new Date(Date.UTC(2026, 0, 1) + height * 10_000),
      transactions,
    };
  }
  /** So many blocks, the first of them with all that waits. */
  function mine(count = 1): void {
    for (let i = 0; i < count; i++) {
      blocks = [...blocks, blockOn(blocks.at(-1), pool)];
      pool = [];
    }
  }
  function send(transaction: FakeTransaction): void {
    if (!pool.some(({ txHash }) => txHash === transaction.txHash)) pool.push(transaction);
  }
  mine(11);

  return {
    blocks: () => blocks as readonly FakeBlock[],
    pool: () => pool as readonly FakeTransaction[],
    blockOn,
    mine,
    send,
    /** Sends what a customer pays. */
    pay(amount = 5n, { traceless = false } = {}): string {
      salt += 1;
      const txHash = hashOf(`payment ${salt}`);
      send({ txHash, address: 'us', amount: units(amount), traceless });
      return txHash;
    },
    /** Everybody forgets a waiting transaction. */
    drop(txHash: string): void {
      pool = pool.filter((one) => one.txHash !== txHash);
    },
    /** Two empty blocks take the place of the newest. */
    reorg(): void {
      blocks = blocks.slice(0, -1);
      pool = [];
      mine(2);
    },
  };
}
type FakeNetwork = ReturnType<typeof fakeNetwork>;

/** What one node has of its network. */
type View = { blocks(): readonly FakeBlock[]; pool(): readonly FakeTransaction[] };

const newest = (blocks: readonly FakeBlock[]): FakeBlock => blocks[blocks.length - 1] as FakeBlock;

const balanceOf = (blocks: readonly FakeBlock[], address: string): Units =>
  units(
    blocks
      .flatMap(({ transactions }) => transactions)
      .filter((transaction) => transaction.address === address)
      .reduce((sum, { amount }) => sum + amount, 0n),
  );

const paymentsOf = (transactions: readonly FakeTransaction[]) =>
  transactions
    .filter(({ traceless }) => !traceless)
    .map(({ txHash, address, amount }) => paymentOf(txHash, 0, 'ETH', address, amount));

export type FakeNode = ReturnType<typeof fakeNode>;

/** A node, with every way in which nodes mislead. It shows what the network has until told otherwise. */
function fakeNode(network: FakeNetwork) {
  let isAway = false;
  let behind = 0;
  /** What it keeps to, whatever the network does. */
  let own: readonly FakeBlock[] | undefined;
  let forgotten: string | undefined;

  const blocks = (): readonly FakeBlock[] => {
    if (isAway) throw new RpcUnavailable('fake', 'the node is away');
    return (own ?? network.blocks()).slice(0, behind === 0 ? undefined : -behind);
  };
  const view: View = { blocks, pool: () => network.pool().filter(({ txHash }) => txHash !== forgotten) };

  return {
    reader: () => readerOf(view),
    /** `named` is the network an operator believes the node to be on. */
    sender: (named = 'fake') => senderOf(view, network, named),
    away() {
      isAway = true;
    },
    /** It sees the network but for its newest blocks. */
    lag(by: number) {
      behind = by;
    },
    /** Its head is so much lower, and stays there. */
    goBack(by: number) {
      own = blocks().slice(0, blocks().length - by);
    },
    /** It has other, empty blocks in place of the newest, and so many more. */
    branchOff(depth: number, more = 0) {
      own = blocks().slice(0, -depth);
      for (let i = 0; i < depth + more; i++) own = [...own, network.blockOn(own.at(-1))];
    },
    /** It lets go of a waiting transaction that others keep. */
    forget(txHash: string) {
      forgotten = txHash;
    },
    /** All is well again. */
    recover() {
      isAway = false;
      behind = 0;
      own = undefined;
      forgotten = undefined;
    },
  };
}

function readerOf({ blocks, pool }: View): ChainReader {
  const block = async (height: number): Promise<Block | undefined> => {
    const found = blocks()[height];
    if (found === undefined) return undefined;
    const { transactions, ...rest } = found;
    return { ...rest, payments: paymentsOf(transactions), spends: [] };
  };

  return {
    chain: 'ethereum',
    check: async () => void blocks(),
    async head() {
      const { height, hash, time } = newest(blocks());
      return { height, hash, time };
    },
    block,
    blocksAfter: (height, limit) => blocksAfter(block, height, limit),
    hashAt: async (height) => blocks()[height]?.hash,
    watchPending: () => watchOf(blocks, pool),
    balances: {
      async balancesAt(addresses, height) {
        if (blocks()[height] === undefined) throw new RpcUnavailable('fake', `no block ${height}`);
        const seen = blocks().slice(0, height + 1);
        return new Map(addresses.map((address) => [address, balanceOf(seen, address)]));
      },
      async internalSource(address, blockHash) {
        const found = blocks().find(({ hash }) => hash === blockHash);
        const source = found?.transactions.find((one) => one.traceless && one.address === address);
        return source?.txHash ?? null;
      },
    },
    async close() {},
  };
}

function watchOf(blocks: View['blocks'], pool: View['pool']): PendingWatch {
  let told: ReadonlySet<string> = new Set();
  return {
    async look() {
      const { height } = newest(blocks());
      const fresh = paymentsOf(pool().filter(({ txHash }) => !told.has(txHash)));
      const now = new Set(pool().map(({ txHash }) => txHash));
      told = now;
      return { fresh, has: (txHash) => now.has(txHash), height };
    },
  };
}

function senderOf({ blocks, pool }: View, network: FakeNetwork, named: string): FakeSender {
  return {
    chain: 'ethereum',
    async check() {
      blocks();
      if (named !== 'fake') throw new WrongNetwork(`the node is on fake, configured is ${named}`);
    },
    hotAddress: 'hot',
    balance: async (_asset, address) => balanceOf(blocks(), address),
    async estimatedFee() {
      blocks();
      return FEE;
    },
    async sign({ to, amount, nonce }) {
      const raw = `${to} ${amount} ${nonce}`;
      return { raw, txHash: hashOf(raw), maxCost: FEE };
    },
    async broadcast(raw) {
      const [address = '', amount = '0'] = raw.split(' ');
      try {
        blocks();
        network.send({ txHash: hashOf(raw), address, amount: units(BigInt(amount)), traceless: false });
        return 'accepted';
      } catch {
        return 'unknown';
      }
    },
    async status(txHash): Promise<TransactionStatus> {
      for (const { height, hash: blockHash, transactions } of blocks()) {
        if (!transactions.some((one) => one.txHash === txHash)) continue;
        const confirmations = blocks().length - height;
        return { state: 'mined', height, blockHash, confirmations, succeeded: true, feePaid: FEE };
      }
      return { state: pool().some((one) => one.txHash === txHash) ? 'pending' : 'absent' };
    },
    finalizedHeight: async () => newest(blocks()).height - FINAL_DEPTH,
    async close() {},
  };
}

/** Nodes of one network, and one reader of them all. */
export function someNodes(count: number) {
  const network = fakeNetwork();
  const nodes = Array.from({ length: count }, () => fakeNode(network)) as [FakeNode, FakeNode, FakeNode];
  return { network, nodes, reader: quorumReader(nodes.map((node) => node.reader())) };
}
