import { isDeepStrictEqual } from 'node:util';
import { type Logger, reason, type ThrottledLog, throttledLog } from '@quittance/shared/logger';
import { LacksToken, NoQuorum } from './chain.ts';
import { RpcRefused, RpcUnavailable } from './json-rpc.ts';

/** Once a quorum has answered, the nodes that were in time for the last question get so much longer. */
const GRACE_MS = 2_000;
/** A late node with so many open questions is not asked another one. */
const LATE_OPEN_MAX = 8;
/** A node that was left out counts as left out for so long. */
const LEFT_OUT_MS = 60_000;

/** More than half: two quorums always have a node in common. */
export const quorumOf = (nodes: number): number => Math.floor(nodes / 2) + 1;

/**
 * Makes one answer of at least a quorum of them. Throws NoQuorum when they do not suffice: it is called again with each
 * further answer. `isLast`: no further one comes.
 */
export type Conclude<A, R> = (answers: readonly A[], nodes: number, isLast: boolean) => R;

type Question<N, A> = (node: N, i: number) => Promise<A>;
export type PanelOptions = { chain: string; logger?: Logger | undefined; graceMs?: number };

/** The nodes of one chain, asked together. Two or more: where there is one, it is asked itself. */
export class Panel<N> {
  readonly quorum: number;
  readonly #nodes: readonly N[];
  readonly #options: PanelOptions;
  /** Nodes that did not answer in time. They are asked, but not waited for until they answer in time again. */
  readonly #late = new Set<number>();
  /** Late nodes whose last question failed: not waited for even where the others do not suffice. */
  readonly #silent = new Set<number>();
  readonly #openQuestions: number[];
  readonly #leftOutAt = new Map<number, number>();
  readonly #log: ThrottledLog | undefined;

  constructor(nodes: readonly N[], options: PanelOptions) {
    this.quorum = quorumOf(nodes.length);
    this.#nodes = nodes;
    this.#openQuestions = nodes.map(() => 0);
    this.#options = options;
    this.#log = options.logger && throttledLog(options.logger);
  }

  /** Concludes from a quorum. Throws what a node threw when fewer answer, and NoQuorum when they differ too much. */
  ask<A, R>(question: Question<N, A>, conclude: Conclude<A, R>): Promise<R> {
    return this.#ask(question, conclude, this.#options.graceMs ?? GRACE_MS);
  }

  /** The answer that a quorum gives in the same words. Nodes that say something else are logged. */
  same<A>(what: string, question: Question<N, A>): Promise<A> {
    return this.ask(
      async (node, i) => ({ i, answer: await question(node, i) }),
      (given, nodes) => {
        const answers = given.map(({ answer }) => answer);
        const agreed = same(what)(answers, nodes);
        for (const { i, answer } of given) {
          if (answer !== undefined && !isDeepStrictEqual(answer, agreed))
            this.#leaveOut(i, `${what}: the quorum has another answer`);
        }
        return agreed;
      },
    );
  }

  /**
   * Waits until every node has answered or failed. For proofs after which money moves: a node that contradicts is heard
   * although a quorum has answered. What a node throws is thrown, unless it only means that the node did not answer.
   */
  askEvery<A, R>(question: Question<N, A>, conclude: Conclude<A, R>): Promise<R> {
    return this.#askHearing(question, conclude, Number.POSITIVE_INFINITY);
  }

  /** Resolves when a quorum has answered. Throws what any node threw in time, unless it means that the node did not answer. */
  async check(question: Question<N, void>): Promise<void> {
    await this.#askHearing(question, () => undefined, this.#options.graceMs ?? GRACE_MS);
  }

  async #askHearing<A, R>(question: Question<N, A>, conclude: Conclude<A, R>, graceMs: number): Promise<R> {
    const contradictions: unknown[] = [];
    const heard: Question<N, A> = async (node, i) => {
      try {
        return await question(node, i);
      } catch (error) {
        if (!isSilence(error)) contradictions.push(error);
        throw error;
      }
    };
    const [outcome] = await Promise.allSettled([this.#ask(heard, conclude, graceMs)]);
    if (contradictions.length > 0) throw contradictions[0];
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  async #ask<A, R>(question: Question<N, A>, conclude: Conclude<A, R>, graceMs: number): Promise<R> {
    const answers: A[] = [];
    const failures = new Map<number, unknown>();
    const open = new Set(this.#nodes.keys());
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    const isPatient = graceMs === Number.POSITIVE_INFINITY;
    let [isDone, isGraceOver] = [false, false];
    let grace: NodeJS.Timeout | undefined;

    const tryToConclude = () => {
      const isLast = [...open].every((i) => this.#silent.has(i));
      try {
        resolve(conclude(answers, this.#nodes.length, isLast));
        isDone = true;
        for (const [i, error] of failures) this.#leaveOut(i, reason(error));
        for (const i of open) {
          this.#late.add(i);
          this.#leaveOut(i, 'no answer in time');
        }
      } catch (error) {
        isDone = isLast || !(error instanceof NoQuorum);
        if (isDone) reject(error);
      }
    };
    const settle = () => {
      if (isDone) return;
      const isAwaited = [...open].some((i) => isPatient || !this.#late.has(i));
      if (answers.length < this.quorum) {
        if (open.size === 0) reject(failures.values().next().value);
      } else if (!isAwaited || isGraceOver) tryToConclude();
      else if (!isPatient) {
        grace ??= setTimeout(() => {
          isGraceOver = true;
          settle();
        }, graceMs);
      }
    };

    for (const [i, node] of this.#nodes.entries()) {
      void Promise.try(isPatient ? question : this.#unlessBusy(question), node, i)
        .then(
          (answer) => {
            answers.push(answer);
            this.#silent.delete(i);
            if (!isDone) this.#late.delete(i);
          },
          (error: unknown) => {
            failures.set(i, error);
            if (this.#late.has(i)) this.#silent.add(i);
          },
        )
        .finally(() => {
          open.delete(i);
          settle();
        });
    }
    try {
      return await promise;
    } finally {
      clearTimeout(grace);
    }
  }

  /** Questions to a slow node would pile up, each with the answers of the others. */
  #unlessBusy<A>(question: Question<N, A>): Question<N, A> {
    return async (node, i) => {
      const open = this.#openQuestions[i] ?? 0;
      if (this.#late.has(i) && open >= LATE_OPEN_MAX)
        throw new RpcUnavailable('ask', 'the node is late with other questions');
      this.#openQuestions[i] = open + 1;
      try {
        return await question(node, i);
      } finally {
        this.#openQuestions[i] = (this.#openQuestions[i] ?? 1) - 1;
      }
    };
  }

  /** How many nodes the others went on without in the last minute. */
  leftOut(): number {
    return [...this.#leftOutAt.values()].filter((at) => performance.now() - at < LEFT_OUT_MS).length;
  }

  /** Called when a quorum concluded without this node. Below a quorum the caller logs the error. */
  #leaveOut(i: number, why: string): void {
    this.#leftOutAt.set(i, performance.now());
    // By its place in the setting, because a URL may hold a key.
    const fields = { chain: this.#options.chain, node: i + 1, nodes: this.#nodes.length, reason: why };
    const message = 'a node is left out: the other nodes of the chain go on while they are a quorum';
    this.#log?.log('warn', `node ${i}`, fields, message);
  }
}

/** The node did not answer, or refused to: that says nothing about the chain. */
const isSilence = (error: unknown): boolean =>
  [RpcUnavailable, RpcRefused, NoQuorum, LacksToken].some((kind) => error instanceof kind);

/*
 * Rules: what one answer a quorum gives. They throw NoQuorum when the answers do not suffice.
 */

/** What a quorum says in the same words. */
export const same =
  (what: string) =>
  <T>(answers: readonly T[], nodes: number): T => {
    for (const one of answers) {
      const alike = answers.filter((other) => isDeepStrictEqual(other, one));
      if (alike.length >= quorumOf(nodes)) return one;
    }
    throw new NoQuorum(`${what}: no ${quorumOf(nodes)} of ${nodes} nodes say the same`);
  };

/** What every node that answers says, and a quorum or more of them: one that contradicts stops the conclusion. */
export const unopposed =
  (what: string) =>
  <T>(answers: readonly T[], nodes: number): T => {
    const agreed = same(what)(answers, nodes);
    if (answers.every((other) => isDeepStrictEqual(other, agreed))) return agreed;
    throw new NoQuorum(`${what}: a node contradicts the others`);
  };

/** The height that a quorum has reached. One node of the quorum is sound, so the chain is really as far. */
export function reached<T extends number | bigint>(values: readonly T[], nodes: number): T {
  const highestFirst = values.toSorted((a, b) => (a > b ? -1 : 1));
  return atRank(quorumOf(nodes), highestFirst);
}

/** The fee that suffices for a quorum. */
export function sufficient<T extends number | bigint>(values: readonly T[], nodes: number): T {
  const lowestFirst = values.toSorted((a, b) => (a < b ? -1 : 1));
  return atRank(quorumOf(nodes), lowestFirst);
}

function atRank<T>(rank: number, sorted: readonly T[]): T {
  const found = sorted[rank - 1];
  if (found === undefined) throw new NoQuorum('fewer answers than a quorum');
  return found;
}

/** A rule of its own for each field of the answers. */
export const each =
  <A extends object>(rules: { [F in keyof A]: (values: readonly A[F][], nodes: number) => A[F] }) =>
  (answers: readonly A[], nodes: number): A => {
    const fields = Object.keys(rules) as (keyof A)[];
    const values = (field: keyof A) => answers.map((answer) => answer[field]);
    return Object.fromEntries(fields.map((field) => [field, rules[field](values(field), nodes)])) as A;
  };

/** What a quorum has in the same order, up to where it ends or no quorum goes on. */
export const commonPrefix =
  (what: string) =>
  <T>(lists: readonly (readonly T[])[], nodes: number): T[] => {
    const common: T[] = [];
    let voters = lists;
    for (let i = 0; ; i++) {
      const longer = voters.filter((list) => list.length > i);
      if (longer.length < quorumOf(nodes)) return common;
      try {
        const ith = longer.map((list) => list[i] as T);
        const next = same(what)(ith, nodes);
        common.push(next);
        voters = longer.filter((list) => isDeepStrictEqual(list[i], next));
      } catch (error) {
        // What comes before is certain; the next question begins with what is not.
        if (error instanceof NoQuorum && i > 0) return common;
        throw error;
      }
    }
  };
