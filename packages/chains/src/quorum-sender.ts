import { invariant } from '@quittance/shared/result';
import { type Broadcast, type ChainSender, NoQuorum, type TransactionStatus } from './chain.ts';
import { Panel, type PanelOptions, quorumOf, reached, same, sufficient } from './quorum.ts';

type Asked<S> = {
  [M in keyof S]-?: S[M] extends (...given: never[]) => Promise<unknown> ? M : never;
}[keyof S];
type Answer<S, M extends keyof S> = S[M] extends (...given: never[]) => Promise<infer A> ? A : never;
type Given<S, M extends keyof S> = S[M] extends (...given: infer G) => Promise<unknown> ? G : never;

/** How the answers of several nodes become one. `proof`: every node is waited for, see Panel.askEvery. `check`: see Panel.check. */
type Rule<A, G> = ((answers: readonly A[], nodes: number, given: G) => A) & { is?: 'proof' | 'check' };

export const proof = <A, G>(rule: Rule<A, G>): Rule<A, G> =>
  Object.assign((...given: Parameters<Rule<A, G>>) => rule(...given), { is: 'proof' as const });

/** One rule for everything that asks a node: a question without a rule does not compile. */
export type QuorumRules<S> = { [M in Asked<S>]: Rule<Answer<S, M>, Given<S, M>> };

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
  const outcome = same(
    'the status of a transaction',
    mined.map((one) => ({ ...one, confirmations: 0 })),
    nodes,
  );
  const alike = mined.filter((one) => one.blockHash === outcome.blockHash);
  return {
    ...outcome,
    confirmations: reached(
      alike.map((one) => one.confirmations),
      nodes,
    ),
  };
}

/** The rules of what every sender can; each kind of chain adds those of its own. */
export const senderRules: QuorumRules<ChainSender> = {
  // A node on another network is a mistake in the settings, also where the others would suffice.
  check: Object.assign(() => undefined, { is: 'check' as const }),
  balance: (answers, nodes) => same('a balance', answers, nodes),
  estimatedFee: sufficient,
  broadcast: broadcastOf,
  status: statusOf,
  finalizedHeight: reached,
  close: () => undefined,
};

/** One sender of several, each with a node of its own and all with the same keys. What asks no node is asked of the first. */
export function quorumSender<S extends ChainSender>(
  senders: readonly S[],
  rules: QuorumRules<S>,
  options: Omit<PanelOptions, 'chain'> = {},
): S {
  const [first] = senders;
  invariant(first !== undefined, 'a sender has a node');
  if (senders.length === 1) return first;
  type Ask = (...given: unknown[]) => Promise<unknown>;
  const nodes = senders as readonly unknown[] as readonly Record<string, Ask>[];
  const panel = new Panel(nodes, { ...options, chain: first.chain });
  const asked = Object.entries(rules as Record<string, Rule<unknown, unknown>>).map(
    ([method, rule]): [string, Ask] => [
      method,
      (...given) => {
        const question = (node: Record<string, Ask>) => (node[method] as Ask)(...given);
        const conclude = (answers: readonly unknown[], count: number) => rule(answers, count, given);
        if (rule.is === 'check') return panel.check(async (node) => void (await question(node)));
        return rule.is === 'proof' ? panel.askEvery(question, conclude) : panel.ask(question, conclude);
      },
    ],
  );
  return {
    ...first,
    ...(Object.fromEntries(asked) as Partial<S>),
    close: async () => {
      await Promise.all(senders.map((sender) => sender.close()));
    },
  };
}
