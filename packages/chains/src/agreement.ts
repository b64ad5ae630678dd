import { isDeepStrictEqual } from 'node:util';
import { invariant } from '@quittance/shared/result';
import {
  type BalanceReader,
  type Block,
  type Broadcast,
  type ChainReader,
  type ChainSender,
  type Head,
  NodesDisagree,
  type Payment,
  type PendingLook,
  type PendingWatch,
  type TransactionStatus,
} from './chain.ts';

/** Two nodes see a new block at two moments, and now and then two blocks at once; more than this is no such thing. */
const FORK_DEPTH_MAX = 6;

/** What is said by every node, when they all say the same. */
export function same<T>(what: string, answers: readonly T[]): T {
  const [first, ...others] = answers;
  invariant(answers.length > 0, 'somebody is asked');
  if (!others.every((other) => isDeepStrictEqual(other, first))) {
    throw new NodesDisagree(`${what}: the nodes do not say the same`);
  }
  return first as T;
}

export function lowest<T extends number | bigint>(values: readonly T[]): T {
  return extreme(values, (value, low) => value < low);
}

export function highest<T extends number | bigint>(values: readonly T[]): T {
  return extreme(values, (value, high) => value > high);
}

function extreme<T>(values: readonly T[], beats: (value: T, best: T) => boolean): T {
  const [first, ...others] = values;
  invariant(values.length > 0, 'somebody is asked');
  let best = first as T;
  for (const value of others) if (beats(value, best)) best = value;
  return best;
}

/** What the network as a whole did with a transaction that was sent to every node. */
export function broadcastOf(answers: readonly Broadcast[]): Broadcast {
  if (answers.includes('accepted')) return 'accepted';
  return answers.every((answer) => answer === 'rejected') ? 'rejected' : 'unknown';
}

/**
 * Absent only where every node says so. Waiting where it waits on some: it may yet be mined. Mined where all have it in
 * the same block with the same outcome, as deep as the node that is behind knows.
 */
export function statusOf(answers: readonly TransactionStatus[]): TransactionStatus {
  const mined = answers.filter((answer) => answer.state === 'mined');
  if (mined.length === 0) {
    return { state: answers.some(({ state }) => state === 'pending') ? 'pending' : 'absent' };
  }
  if (mined.length < answers.length) throw new NodesDisagree('the status: some nodes do not have its block');
  const confirmations = lowest(mined.map((one) => one.confirmations));
  return same(
    'the status',
    mined.map((one) => ({ ...one, confirmations })),
  );
}

/**
 * The block that all nodes give, or none where no node has one. Its time is the earliest that is told: on Solana, where
 * the hash does not cover it, each node may estimate its own.
 */
export function sameBlock(height: number, answers: readonly (Block | undefined)[]): Block | undefined {
  const timeless = answers.map((block) => block && { ...block, time: undefined });
  const block = same(`block ${height}`, timeless);
  const times = answers.flatMap((answer) => (answer === undefined ? [] : [answer.time.getTime()]));
  return block && { ...block, time: new Date(lowest(times)) };
}

/** The blocks that all nodes give, up to the first that one of them does not have. */
export function commonBlocks(answers: readonly (readonly Block[])[]): Block[] {
  const length = lowest(answers.map((blocks) => blocks.length));
  const blocks: Block[] = [];
  for (let i = 0; i < length; i++) {
    const given = answers.map((one) => one[i] as Block);
    try {
      blocks.push(sameBlock(given[0]?.height as number, given) as Block);
    } catch (error) {
      // What comes before is certain; the next question begins with the one that is not.
      if (error instanceof NodesDisagree && i > 0) break;
      throw error;
    }
  }
  return blocks;
}

type Asked<S> = {
  [M in keyof S]-?: S[M] extends (...given: never[]) => Promise<unknown> ? M : never;
}[keyof S];
type Answer<S, M extends keyof S> = S[M] extends (...given: never[]) => Promise<infer A> ? A : never;
type Given<S, M extends keyof S> = S[M] extends (...given: infer G) => Promise<unknown> ? G : never;

/** How the answers of several nodes, to a question with what was given, become one: for everything that asks a node. */
export type Rules<S> = {
  [M in Asked<S>]: (answers: Answer<S, M>[], given: Given<S, M>) => Answer<S, M>;
};

/** The rules of what every sender can; each kind of chain adds those of its own. */
export const senderRules: Rules<ChainSender> = {
  check: () => undefined,
  balance: (answers) => same('a balance', answers),
  usualCost: highest,
  broadcast: broadcastOf,
  status: statusOf,
  finalizedHeight: lowest,
  close: () => undefined,
};

/**
 * One sender of several, each with a node of its own and all with the same keys. Everything is asked of every node, and
 * when one cannot answer, nothing is. What asks nobody is asked of the first.
 */
export function agreeingSender<S extends ChainSender>(senders: readonly S[], rules: Rules<S>): S {
  const [first] = senders;
  invariant(first !== undefined, 'a sender has a node');
  if (senders.length === 1) return first;
  type Ask = (...given: unknown[]) => Promise<unknown>;
  type Rule = (answers: unknown[], given: unknown[]) => unknown;
  const nodes = senders as readonly unknown[] as readonly Record<string, Ask>[];
  const asked = Object.entries(rules as Record<string, Rule>).map(([method, rule]): [string, Ask] => [
    method,
    async (...given) => rule(await Promise.all(nodes.map((node) => (node[method] as Ask)(...given))), given),
  ]);
  return { ...first, ...(Object.fromEntries(asked) as Partial<S>) };
}

/**
 * One reader of several, each with a node of its own. The head is the highest block that all have; what lies below is
 * what all say, compared in full. When one lags, that is a lower head; when one is away, disagrees, or the head goes
 * back, every question throws until that is over.
 */
export function agreeingReader(readers: readonly ChainReader[]): ChainReader {
  const [first] = readers;
  invariant(first !== undefined, 'a reader has a node');
  if (readers.length === 1) return first;
  const { chain } = first;
  const all = async <T>(ask: (reader: ChainReader) => Promise<T>): Promise<T[]> =>
    Promise.all(readers.map(ask));
  let told = -1;

  async function hashAt(height: number): Promise<string | undefined> {
    return same(`block ${height}`, await all((reader) => reader.hashAt(height)));
  }

  return {
    chain,

    async check() {
      await all((reader) => reader.check());
    },

    async head() {
      const head = await commonHead(readers);
      if (head.height < told) {
        throw new NodesDisagree(
          `the head: ${head.height} is the highest common block, and ${told} was before`,
        );
      }
      told = head.height;
      return head;
    },

    block: async (height) => sameBlock(height, await all((reader) => reader.block(height))),

    blocksAfter: async (height, limit) =>
      commonBlocks(await all((reader) => reader.blocksAfter(height, limit))),

    hashAt,

    ...balancesOf(readers),
    ...pendingOf(readers),

    async close() {
      await all((reader) => reader.close());
    },
  };
}

async function commonHead(readers: readonly ChainReader[]): Promise<Head> {
  const heads = await Promise.all(readers.map((reader) => reader.head()));
  const height = lowest(heads.map((head) => head.height));
  const behind = heads.find((head) => head.height === height) as Head;
  if ((await commonHash(readers, height)) === behind.hash) return behind;
  // Two blocks at one height: the one below them is certain.
  for (let below = height - 1; below > height - FORK_DEPTH_MAX && below >= 0; below--) {
    const hash = await commonHash(readers, below);
    if (hash === undefined) continue;
    const block = sameBlock(below, await Promise.all(readers.map((reader) => reader.block(below))));
    if (block !== undefined && block.hash === hash) return { height: below, hash, time: block.time };
  }
  throw new NodesDisagree(`the head: no block from ${height} down is on all nodes`);
}

/** The hash that all have at a height; undefined when they do not have the same, or one has none. */
async function commonHash(readers: readonly ChainReader[], height: number): Promise<string | undefined> {
  const [hash, ...others] = await Promise.all(readers.map((reader) => reader.hashAt(height)));
  return others.every((other) => other === hash) ? hash : undefined;
}

function balancesOf(readers: readonly ChainReader[]): { balances?: BalanceReader } {
  const all = readers.flatMap((reader) => reader.balances ?? []);
  if (all.length < readers.length) return {};
  return {
    balances: {
      async balancesAt(addresses, height) {
        const answers = await Promise.all(all.map((one) => one.balancesAt(addresses, height)));
        return same(`the balances at ${height}`, answers);
      },
      async internalSource(address, blockHash) {
        const answers = await Promise.all(all.map((one) => one.internalSource(address, blockHash)));
        return answers.find((answer) => answer !== null) ?? null;
      },
    },
  };
}

function pendingOf(readers: readonly ChainReader[]): Pick<ChainReader, 'watchPending'> {
  const all = readers.flatMap((reader) =>
    reader.watchPending === undefined ? [] : [reader.watchPending.bind(reader)],
  );
  if (all.length < readers.length) return {};
  return { watchPending: () => agreeingWatch(all.map((watch) => watch())) };
}

/** What one node has told and others not yet: until they do, or no node has it any more. */
type Told = { payment: Payment; by: Set<number> };

/**
 * A payment waits once every node has told it, and as long as one still has it. What some nodes told while another one
 * was away is kept for the next look.
 */
function agreeingWatch(watches: readonly PendingWatch[]): PendingWatch {
  const partly = new Map<string, Told>();
  return {
    async look() {
      const results = await Promise.allSettled(watches.map((watch) => watch.look()));
      const looks: PendingLook[] = [];
      for (const [node, result] of results.entries()) {
        if (result.status === 'rejected') continue;
        looks.push(result.value);
        for (const payment of result.value.fresh) tell(partly, node, payment);
      }
      for (const result of results) if (result.status === 'rejected') throw result.reason;

      const has = (txHash: string) => looks.some((look) => look.has(txHash));
      const fresh: Payment[] = [];
      for (const [outpoint, { payment, by }] of partly) {
        const everywhere = by.size === watches.length;
        if (everywhere) fresh.push(payment);
        if (everywhere || payment.txHash === null || !has(payment.txHash)) partly.delete(outpoint);
      }
      // The highest: what no longer waits on any node is in a block that one of them may have before the others.
      const height = highest(looks.map((look) => look.height));
      const isComplete = looks.every((look) => look.isComplete !== false);
      return { fresh, has, height, isComplete };
    },
  };
}

function tell(partly: Map<string, Told>, node: number, payment: Payment): void {
  const known = partly.get(payment.outpoint);
  if (known === undefined) partly.set(payment.outpoint, { payment, by: new Set([node]) });
  else if (isDeepStrictEqual(known.payment, payment)) known.by.add(node);
}
