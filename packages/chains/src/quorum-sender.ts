import { invariant } from '@quittance/shared/result';
import type { BitcoinSender, Unspent } from './bitcoin/sender.ts';
import {
  type Broadcast,
  type ChainSender,
  type EvmSender,
  NoQuorum,
  type TransactionStatus,
} from './chain.ts';
import {
  commonPrefix,
  each,
  Panel,
  type PanelOptions,
  quorumOf,
  reached,
  same,
  sufficient,
  unopposed,
} from './quorum.ts';
import type { SolanaSender } from './solana/sender.ts';
import type { Lifetime } from './solana/transaction.ts';

/** A blockhash is valid for 150 blocks: two nodes that are further apart than that do not tell of the same chain. */
const APART_MAX = 150;
/** A node may know blocks that others do not have yet. */
const AHEAD_MAX = 32;

type Asked<S> = {
  [M in keyof S]-?: S[M] extends (...given: never[]) => Promise<unknown> ? M : never;
}[keyof S];
type Answer<S, M extends keyof S> = S[M] extends (...given: never[]) => Promise<infer A> ? A : never;
type Given<S, M extends keyof S> = S[M] extends (...given: infer G) => Promise<unknown> ? G : never;

/** How the answers of several nodes become one. */
type Rule<A, G> = ((answers: readonly A[], nodes: number, given: G) => A) & { isProof?: true };

/** One rule for everything that asks a node: a question without a rule does not compile. */
export type QuorumRules<S> = {
  [M in Exclude<Asked<S>, 'check' | 'close'>]: Rule<Answer<S, M>, Given<S, M>>;
};

/** A rule for which every node is waited for, see Panel.askEvery. */
const proof = <A, G>(rule: Rule<A, G>): Rule<A, G> =>
  Object.assign((...given: Parameters<Rule<A, G>>) => rule(...given), { isProof: true as const });

/** The rules of what every sender can; each kind of chain adds those of its own. */
export const senderRules: QuorumRules<ChainSender> = {
  balance: same('a balance'),
  estimatedFee: sufficient,
  broadcast: broadcastOf,
  status: statusOf,
  finalizedHeight: reached,
};

/** Something new at any of the nodes is something new. */
const anyNew = (answers: readonly string[]): string => answers.toSorted().join(' ');

export const evmRules: QuorumRules<EvmSender> = {
  ...senderRules,
  newestBlock: anyNew,
  fees: each({ maxFeePerGas: sufficient, maxPriorityFeePerGas: sufficient }),
  estimateTransfer(answers, nodes) {
    const gas = answers.filter((answer) => answer !== 'reverts');
    if (answers.length - gas.length >= quorumOf(nodes)) return 'reverts';
    if (gas.length >= quorumOf(nodes)) return sufficient(gas, nodes);
    throw new NoQuorum('whether a transfer reverts');
  },
  // It is part of what is signed, so it is not one node alone that tells it.
  tokenDomain: same('what a token’s signatures are bound to'),
  nonce(answers, nodes, [, at]) {
    // Each node has a mempool of its own, and what one of them has may be mined.
    if (at === 'pending') return Math.max(...answers);
    return (at === 'finalized' ? reached : same('a nonce'))(answers, nodes);
  },
  // A node that lacks one of the blocks throws: only nodes that have read them all say that none holds it.
  findByNonce: proof((answers, nodes) => unopposed('who used a nonce')(answers, nodes)),
};

export const bitcoinRules: QuorumRules<BitcoinSender> = {
  ...senderRules,
  newestBlock: anyNew,
  feeRate: sufficient,
  replacementFee(answers, nodes) {
    // It has to suffice for the nodes that have the transaction it replaces.
    const fees = answers.filter((answer) => answer !== undefined).toSorted((a, b) => (a < b ? -1 : 1));
    return fees[Math.min(fees.length, quorumOf(nodes)) - 1];
  },
  height: reached,
  unspent: (answers, nodes, [outpoints]) =>
    outpoints.map((_, i) => {
      const ofOne = answers.map((answer) => answer[i]);
      return unspentOf(ofOne, nodes);
    }),
  // Each node has a mempool of its own, and what one of them has may be mined.
  spentInMempool: (answers) => answers.includes(true),
  // The height that a quorum was at: what came after it is found in the blocks.
  unspentOf: each({ outputs: same('what an address has'), height: reached }),
  received: same('what an address received'),
  // Any node that knows it will do, because the hash of the transaction covers its inputs and the sender compares it.
  inputsOf: proof((answers) => answers.find((answer) => answer !== undefined)),
  // A node that lacks one of the blocks throws: only nodes that have read them all are heard.
  findSpenders: proof((answers, nodes) => unopposed('who spent an output')(answers, nodes)),
};

export const solanaRules: QuorumRules<SolanaSender> = {
  ...senderRules,
  lifetime: lifetimeOf,
  priorityFee: sufficient,
  rents: same('the rents'),
  tryTransfer: same('a trial'),
  tokenAccounts: same('token accounts'),
  // A node that is behind lacks the newest.
  signatures: commonPrefix('the hot wallet’s transactions'),
  isSignedByHot: same('who signed a transaction'),
  // Each node of the quorum has come that far itself and has read every block the transaction could be in. One node that has
  // the transaction stops the proof; a node that is behind, or lacks a block, proves nothing and stops nothing.
  nonInclusion: proof((answers, nodes) => {
    if (answers.includes('included')) return 'included';
    const provers = answers.filter((answer) => answer === 'proven');
    return provers.length >= quorumOf(nodes) ? 'proven' : 'unproven';
  }),
};

/** What the network as a whole did with a transaction that was sent to every node. */
export function broadcastOf(answers: readonly Broadcast[], nodes: number): Broadcast {
  if (answers.includes('accepted')) return 'accepted';
  if (answers.length < nodes) throw new NoQuorum('a broadcast: not every node has answered');
  return answers.every((answer) => answer === 'rejected') ? 'rejected' : 'unknown';
}

/**
 * Mined where a quorum has it in the same block with the same outcome, as deep as a quorum knows. Absent where a quorum does
 * not have it: its bytes are sent again then, and only a proof can end it. Pending where a quorum does not have it in
 * a block, and fewer do not have it at all.
 */
export function statusOf(answers: readonly TransactionStatus[], nodes: number): TransactionStatus {
  const quorum = quorumOf(nodes);
  const mined = answers.filter((answer) => answer.state === 'mined');
  const absent = answers.filter((answer) => answer.state === 'absent');
  if (absent.length >= quorum) return { state: 'absent' };
  if (answers.length - mined.length >= quorum) return { state: 'pending' };
  const outcomes = mined.map((one) => ({ ...one, confirmations: 0 }));
  const outcome = same('the status of a transaction')(outcomes, nodes);
  const alike = mined.filter((one) => one.blockHash === outcome.blockHash);
  const depths = alike.map((one) => one.confirmations);
  return { ...outcome, confirmations: reached(depths, nodes) };
}

function unspentOf(answers: readonly (Unspent | undefined)[], nodes: number): Unspent | undefined {
  const amounts = answers.map((answer) => answer?.amount);
  const amount = same('an unspent output')(amounts, nodes);
  if (amount === undefined) return undefined;
  const alike = answers.filter((answer) => answer !== undefined && answer.amount === amount);
  const depths = alike.map((one) => one?.confirmations ?? 0);
  return { amount, confirmations: reached(depths, nodes) };
}

/**
 * The newest blockhash that a quorum can know. It is taken for valid as long as that of any node of this quorum could be, and
 * some blocks longer: a transaction must never be given up too early, whatever one node says of its end.
 */
function lifetimeOf(answers: readonly Lifetime[], nodes: number): Lifetime {
  const newestFirst = answers.toSorted((a, b) => b.lastValidBlockHeight - a.lastValidBlockHeight);
  for (const [i, newest] of newestFirst.entries()) {
    const known = newestFirst[i + quorumOf(nodes) - 1];
    if (known === undefined) break;
    const { lastValidBlockHeight } = newest;
    if (lastValidBlockHeight - known.lastValidBlockHeight > APART_MAX) continue;
    return { ...known, lastValidBlockHeight: lastValidBlockHeight + AHEAD_MAX };
  }
  throw new NoQuorum('how long a blockhash is valid');
}

/** One sender of several, each with a node of its own and all with the same addresses. What asks no node is asked of the first. */
export function quorumSender<S extends ChainSender>(
  senders: readonly S[],
  rules: QuorumRules<S>,
  options: Omit<PanelOptions, 'chain'> = {},
): S {
  const [first] = senders;
  invariant(first !== undefined, 'a sender has a node');
  if (senders.length === 1) return first;
  type Ask = (...given: unknown[]) => Promise<unknown>;
  const panel = new Panel(senders, { ...options, chain: first.chain });
  const asked = Object.entries(rules as Record<string, Rule<unknown, unknown>>).map(
    ([method, rule]): [string, Ask] => [
      method,
      (...given) => {
        const question = (sender: S) => (sender[method as keyof S] as Ask)(...given);
        const conclude = (answers: readonly unknown[], nodes: number) => rule(answers, nodes, given);
        return rule.isProof ? panel.askEvery(question, conclude) : panel.ask(question, conclude);
      },
    ],
  );
  return {
    ...first,
    ...(Object.fromEntries(asked) as Partial<S>),
    // A node on another network is a mistake in the settings, also where the others would suffice.
    check: () => panel.check((sender) => sender.check()),
    close: async () => {
      await Promise.all(senders.map((sender) => sender.close()));
    },
  };
}
