import { isDeepStrictEqual } from 'node:util';
import { invariant } from '@quittance/shared/result';
import {
  type BalanceReader,
  type Block,
  type ChainReader,
  type Head,
  NoQuorum,
  type Payment,
  type PendingLook,
  type PendingWatch,
} from './chain.ts';
import { RpcUnavailable } from './json-rpc.ts';
import { commonPrefix, Panel, type PanelOptions, quorumOf, reached, same } from './quorum.ts';

/** Two nodes see a new block at two moments, and now and then two blocks at once; more than this is no such thing. */
const FORK_DEPTH_MAX = 6;

const withoutTime = (block: Block | undefined) => block && { ...block, time: undefined };

/**
 * The block that a quorum gives, or none where a quorum has none. Times are not compared: on Solana the hash does not cover
 * them, and each node may estimate its own.
 */
export function sameBlock(
  height: number,
  answers: readonly (Block | undefined)[],
  nodes: number,
): Block | undefined {
  const agreed = same(`block ${height}`)(answers.map(withoutTime), nodes);
  return agreed && { ...agreed, time: timeOf(agreed, answers, nodes) };
}

/** The blocks that a quorum gives, up to the first that fewer have. */
export function commonBlocks(answers: readonly (readonly Block[])[], nodes: number): Block[] {
  const timeless = answers.map((blocks) => blocks.map(withoutTime));
  return commonPrefix('the next blocks')(timeless, nodes).flatMap((block, i) => {
    const given = answers.map((blocks) => blocks[i]);
    return block === undefined ? [] : [{ ...block, time: timeOf(block, given, nodes) }];
  });
}

function timeOf(agreed: object, answers: readonly (Block | undefined)[], nodes: number): Date {
  const alike = answers.filter((block) => isDeepStrictEqual(withoutTime(block), agreed));
  const times = alike.flatMap((block) => block?.time ?? []);
  return earliest(times, nodes) as Date;
}

/** The earliest, but for as many as may err; undefined when there are no more than these. */
function earliest(times: readonly Date[], nodes: number): Date | undefined {
  return times.toSorted((a, b) => a.getTime() - b.getTime())[nodes - quorumOf(nodes)];
}

/**
 * One reader of several, each with a node of its own. The head is the highest block that a quorum has; what lies below is
 * what a quorum says, compared in full, because a hash tells nothing of what a node made of the block. A node that is away,
 * behind or on another branch is left out. Below a quorum, and when the head goes back, every question throws.
 */
export function quorumReader(
  readers: readonly ChainReader[],
  options: Omit<PanelOptions, 'chain'> = {},
): ChainReader {
  const [first] = readers;
  invariant(first !== undefined, 'a reader has a node');
  if (readers.length === 1) return first;
  const { chain } = first;
  const panel = new Panel(readers, { ...options, chain });
  let told = -1;

  const wentBack = (height: number) =>
    new NoQuorum(`the head: ${height} is the highest common block, and ${told} was before`);

  /** A node that has not come to a height of the chain does not know whether there is a block. */
  async function orBehind<T>(
    reader: ChainReader,
    height: number,
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const found = await ask();
    if (found !== undefined || height > told) return found;
    const head = await reader.head();
    if (head.height < height) throw new RpcUnavailable('head', `the node is only at ${head.height}`);
    return await ask();
  }

  const hashAt = (height: number): Promise<string | undefined> =>
    panel.same(`block ${height}`, (reader) => orBehind(reader, height, () => reader.hashAt(height)));

  const block = (height: number): Promise<Block | undefined> =>
    panel.ask(
      (reader) => orBehind(reader, height, () => reader.block(height)),
      (answers, nodes) => sameBlock(height, answers, nodes),
    );

  async function commonHead(): Promise<Head> {
    const { heads, top } = await panel.ask(
      (reader) => reader.head(),
      (given, nodes, isLast) => {
        const heights = given.map((head) => head.height);
        const height = reached(heights, nodes);
        // A further node may have the block that only one of these has.
        const isMore = !isLast && height <= told && given.some((head) => head.height > height);
        if (height < told || isMore) throw wentBack(height);
        return { heads: [...given], top: height };
      },
    );
    // Two blocks at one height: the one below them is certain.
    for (let height = top; height > top - FORK_DEPTH_MAX && height >= 0; height--) {
      const hash = await hashAt(height).catch((error: unknown) => {
        if (error instanceof NoQuorum) return undefined;
        throw error;
      });
      if (hash === undefined) continue;
      const alike = heads.filter((head) => head.height === height && head.hash === hash);
      const times = alike.map((head) => head.time);
      const time = earliest(times, readers.length);
      if (time !== undefined) return { height, hash, time };
      const found = await block(height);
      if (found !== undefined && found.hash === hash) return { height, hash, time: found.time };
    }
    throw new NoQuorum(`the head: no quorum has a block in common from ${top} down`);
  }

  return {
    chain,

    // A node on another network is a mistake in the settings, also where the others would suffice.
    check: (of) =>
      of === 'network'
        ? panel.ask(
            (reader) => reader.check(of),
            () => undefined,
          )
        : panel.check((reader) => reader.check()),

    async head() {
      const head = await commonHead();
      if (head.height < told) throw wentBack(head.height);
      told = head.height;
      return head;
    },

    block,

    blocksAfter: (height, limit) =>
      panel.ask(
        (reader) => reader.blocksAfter(height, limit),
        (answers, nodes, isLast) => {
          const common = commonBlocks(answers, nodes);
          const isMore = !isLast && common.length === 0 && answers.some((blocks) => blocks.length > 0);
          if (isMore) throw new NoQuorum(`the blocks after ${height}: fewer nodes than a quorum have them`);
          return common;
        },
      ),

    hashAt,

    nodesLeftOut: () => panel.leftOut(),

    // All nodes are of one chain: they can the same.
    ...(first.balances === undefined ? {} : { balances: balancesOf(panel) }),
    ...(first.watchPending === undefined ? {} : { watchPending: () => pendingOf(panel, readers) }),

    async close() {
      await Promise.all(readers.map((reader) => reader.close()));
    },
  };
}

function balancesOf(panel: Panel<ChainReader>): BalanceReader {
  const of = (reader: ChainReader) => reader.balances as BalanceReader;
  return {
    balancesAt: (addresses, height) =>
      panel.same(`the balances at ${height}`, (reader) => of(reader).balancesAt(addresses, height)),
    // Not every node traces, and the hash of the transaction moves no money.
    internalSource: (address, blockHash) =>
      panel.ask(
        (reader) => of(reader).internalSource(address, blockHash),
        (answers) => {
          const [one, ...others] = new Set(answers.filter((answer) => answer !== null));
          return others.length === 0 ? (one ?? null) : null;
        },
      ),
  };
}

/** A payment that some nodes have told and no quorum yet, as these nodes tell it. */
type Told = { payment: Payment; by: Set<number> };

/**
 * A payment is pending once a quorum has told it, until a quorum no longer has it. What some nodes told while others were
 * away is kept for the next look.
 */
function pendingOf(panel: Panel<ChainReader>, readers: readonly ChainReader[]): PendingWatch {
  const watches = readers.map((reader) => reader.watchPending?.() as PendingWatch);
  const partly = new Map<string, Told[]>();
  const latest = new Map<number, PendingLook>();

  async function lookAt(i: number): Promise<PendingLook> {
    const look = await (watches[i] as PendingWatch).look();
    // Also when the look came too late for the quorum: a watch returns a payment once.
    for (const payment of look.fresh) note(payment, i);
    latest.set(i, look);
    return look;
  }
  function note(payment: Payment, i: number): void {
    const told = partly.get(payment.outpoint) ?? [];
    const alike = told.find((one) => isDeepStrictEqual(one.payment, payment));
    if (alike === undefined) told.push({ payment, by: new Set([i]) });
    else alike.by.add(i);
    partly.set(payment.outpoint, told);
  }

  return {
    async look() {
      const { looks, height } = await panel.ask(
        (_, i) => lookAt(i),
        (given, nodes) => ({ looks: [...given], height: settledUpTo(given, nodes) }),
      );
      const has = (txHash: string) => looks.filter((look) => !look.has(txHash)).length < panel.quorum;
      const fresh: Payment[] = [];
      for (const [outpoint, told] of partly) {
        const agreed = told.find(({ by }) => by.size >= panel.quorum)?.payment;
        if (agreed !== undefined) fresh.push(agreed);
        const isWaiting = ({ payment: { txHash }, by }: Told) =>
          txHash !== null && [...by].some((i) => latest.get(i)?.has(txHash));
        if (agreed !== undefined || !told.some(isWaiting)) partly.delete(outpoint);
      }
      const isComplete = looks.filter((look) => look.isComplete !== false).length >= panel.quorum;
      return { fresh, has, height, isComplete };
    },
  };
}

/**
 * What no longer waits is in a block that one node may have before the others: the highest height that is told, but for as
 * many as may err.
 */
function settledUpTo(looks: readonly PendingLook[], nodes: number): number {
  const heights = looks.map((look) => look.height).toSorted((a, b) => b - a);
  return heights[nodes - quorumOf(nodes)] as number;
}
