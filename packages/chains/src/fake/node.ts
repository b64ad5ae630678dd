import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { blocksAfter } from '../blocks-after.ts';
import {
  type Block,
  type Broadcast,
  type ChainReader,
  type ChainSender,
  type Payment,
  type PendingWatch,
  type SignedTransaction,
  type TransactionStatus,
  WrongNetwork,
} from '../chain.ts';
import { RpcUnavailable } from '../json-rpc.ts';
import { type FakeBlock, type FakeNetwork, type FakeTransaction, hashOf } from './network.ts';

/** What a transaction of the sender costs, succeed or not, in native units. */
const FAKE_FEE = 21_000n as Units;
const FINAL_DEPTH = 6;

/** The same order gives the same bytes. */
export type FakeOrder = {
  asset: AssetSymbol;
  to: string;
  amount: Units;
  /** Of the account flavour: its number among the hot wallet's transactions. */
  nonce?: number;
  /** Of the UTXO flavour: the outpoints it spends, all of them the hot wallet's; what is left comes back. */
  inputs?: readonly string[];
  /** Of the account flavour: whether it will succeed. */
  succeeds?: boolean;
};

export type FakeSender = ChainSender & {
  sign(order: FakeOrder): Promise<SignedTransaction>;
  /** Outpoints of the hot wallet that nothing in the chain has spent. */
  coins(): Promise<string[]>;
};

/** A node of a fake network, with every way in which nodes mislead. It sees what the network has until told otherwise. */
export function fakeNode(network: FakeNetwork) {
  let away = false;
  let losesAnswers = false;
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
  const view: View = { network, blocks, pool, losesAnswers: () => losesAnswers };

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
      for (let i = 0; i < depth + more; i++) own = [...own, network.seal([], own.at(-1))];
    },
    /** It lets go of a waiting transaction that others keep. */
    forget(txHash: string) {
      forgotten = new Set([...forgotten, txHash]);
    },
    /** What is broadcast arrives, and nobody hears so. */
    loseAnswers() {
      losesAnswers = true;
    },
    /** All is well again. */
    recover() {
      away = false;
      losesAnswers = false;
      behind = 0;
      own = undefined;
      forgotten = new Set();
    },
  };
}

type View = {
  network: FakeNetwork;
  blocks(): readonly FakeBlock[];
  pool(): readonly FakeTransaction[];
  losesAnswers(): boolean;
};

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

function senderOf(view: View, seed: string, named: string): FakeSender {
  const { network, blocks, pool } = view;
  const hotAddress = `${seed}-hot`;

  return {
    chain: network.chain,
    check: async () => checkName(network, blocks, named),
    hotAddress,
    depositAddress: (index) => `${seed}-${index}`,
    balance: async (asset, address) => balanceOf(blocks(), asset, address),
    usualCost: async () => {
      newest(blocks());
      return FAKE_FEE;
    },

    async sign(order) {
      const raw = Buffer.from(
        JSON.stringify({ from: hotAddress, ...order }, (_key, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        ),
      ).toString('hex');
      return { raw, txHash: hashOf(raw), maxCost: FAKE_FEE };
    },

    async coins() {
      const spent = new Set(blocks().flatMap((block) => block.transactions.flatMap(({ claims }) => claims)));
      return paymentsIn(blocks())
        .filter(({ address, outpoint }) => address === hotAddress && !spent.has(outpoint))
        .map(({ outpoint }) => outpoint);
    },

    async broadcast(raw): Promise<Broadcast> {
      try {
        const answer = take(view, raw);
        return view.losesAnswers() ? 'unknown' : answer;
      } catch (error) {
        if (error instanceof RpcUnavailable) return 'unknown';
        throw error;
      }
    },

    async status(txHash): Promise<TransactionStatus> {
      const seen = blocks();
      for (const { height, hash, transactions } of seen) {
        const mined = transactions.find((one) => one.txHash === txHash);
        if (mined === undefined) continue;
        const confirmations = seen.length - height;
        const { succeeds: succeeded, fee: feePaid } = mined;
        return { state: 'mined', height, blockHash: hash, confirmations, succeeded, feePaid };
      }
      return { state: pool().some((one) => one.txHash === txHash) ? 'pending' : 'absent' };
    },

    finalizedHeight: async () => Math.max(0, newest(blocks()).height - FINAL_DEPTH),

    async close() {},
  };
}

/** What a node does with bytes it is sent. */
function take({ network, blocks, pool }: View, raw: string): Broadcast {
  const txHash = hashOf(raw);
  const mined = blocks().flatMap((block) => block.transactions);
  if ([...mined, ...pool()].some((one) => one.txHash === txHash)) return 'accepted';
  const transaction = decoded(network, blocks(), raw, txHash);
  if (transaction === undefined) return 'rejected';
  const claimed = new Set([...mined, ...pool()].flatMap(({ claims }) => claims));
  if (transaction.claims.some((claim) => claimed.has(claim))) return 'rejected';
  const poor = transaction.debits.some(({ asset, address }) => {
    const mine = transaction.debits.filter((debit) => debit.asset === asset && debit.address === address);
    return balanceOf(blocks(), asset, address) < mine.reduce((sum, debit) => sum + debit.amount, 0n);
  });
  if (poor) return 'rejected';
  network.send(transaction);
  return 'accepted';
}

type Sent = {
  from: string;
  asset: AssetSymbol;
  to: string;
  amount: string;
  nonce?: number;
  inputs?: string[];
  succeeds?: boolean;
};

/** Undefined when these are no bytes of ours, or spend what is not there. */
function decoded(
  network: FakeNetwork,
  blocks: readonly FakeBlock[],
  raw: string,
  txHash: string,
): FakeTransaction | undefined {
  let sent: Sent;
  try {
    sent = JSON.parse(Buffer.from(raw, 'hex').toString()) as Sent;
  } catch {
    return undefined;
  }
  const { from, asset, to, nonce, inputs = [], succeeds = true } = sent;
  const amount = BigInt(sent.amount) as Units;
  const fee = { asset: network.native, address: from, amount: FAKE_FEE };
  const paid = { asset, address: to, amount };
  if (network.flavour === 'account') {
    const debits = succeeds ? [{ asset, address: from, amount }, fee] : [fee];
    return { txHash, claims: [`${from}'s ${nonce}`], outputs: [paid], debits, fee: FAKE_FEE, succeeds };
  }
  const coins = paymentsIn(blocks).filter(
    ({ outpoint, address }) => address === from && inputs.includes(outpoint),
  );
  const total = coins.reduce((sum, coin) => sum + coin.amount, 0n);
  const change = total - amount - FAKE_FEE;
  if (coins.length !== inputs.length || change < 0n) return undefined;
  const outputs = change === 0n ? [paid] : [paid, { asset, address: from, amount: change as Units }];
  const debits = coins.map((coin) => ({ asset, address: from, amount: coin.amount }));
  return { txHash, claims: inputs, outputs, debits, fee: FAKE_FEE, succeeds: true };
}

function paymentsOf({ txHash, outputs, succeeds }: FakeTransaction): Payment[] {
  if (!succeeds) return [];
  return outputs.flatMap(({ asset, address, amount, traceless }, outputIndex) =>
    traceless === true
      ? []
      : [{ outpoint: `${txHash}:${outputIndex}`, txHash, outputIndex, asset, address, amount }],
  );
}

const paymentsIn = (blocks: readonly FakeBlock[]): Payment[] =>
  blocks.flatMap((block) => block.transactions.flatMap(paymentsOf));

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

function balanceOf(blocks: readonly FakeBlock[], asset: AssetSymbol, address: string): Units {
  const isIt = (one: { asset: AssetSymbol; address: string }) =>
    one.asset === asset && one.address === address;
  let balance = 0n;
  for (const { succeeds, outputs, debits } of blocks.flatMap((block) => block.transactions)) {
    if (succeeds) for (const output of outputs.filter(isIt)) balance += output.amount;
    for (const debit of debits.filter(isIt)) balance -= debit.amount;
  }
  return balance as Units;
}

const newest = (blocks: readonly FakeBlock[]): FakeBlock => blocks[blocks.length - 1] as FakeBlock;

function checkName(network: FakeNetwork, blocks: View['blocks'], named: string): void {
  newest(blocks());
  if (network.name !== named)
    throw new WrongNetwork(`the node is on ${network.name}, configured is ${named}`);
}
