import type { Fault, FaultProxy } from '@quittance/testkit/fault-proxy';
import type { DivergentNode, DivergentProtocol } from './divergent-node.ts';
import type { LoadAsset } from './load.ts';

export type Nodes = {
  chain: 'bitcoin' | 'ethereum' | 'solana';
  asset: LoadAsset;
  protocol: DivergentProtocol;
  /** What is asked often, and one at a time: of a dozen questions in one request hardly ever all are answered. */
  questions: readonly string[];
};
/** A chain's two nodes as the services see them, and the ways to them. */
export type Pair = Nodes & { nodes: [DivergentNode, DivergentNode]; ways: [FaultProxy, FaultProxy] };

/** What is done to each chain's nodes. */
export type Strike = {
  begin(pair: Pair): unknown;
  end(pair: Pair): unknown;
  fired(pair: Pair): number;
};
export const onTheWay = (which: readonly (0 | 1)[], fault: Fault): Strike => ({
  begin: ({ ways }) => which.map((i) => ways[i].set(fault)),
  end: ({ ways }) => ways.map((way) => way.set({ kind: 'pass' })),
  fired: ({ ways }) => which.reduce<number>((sum, i) => sum + ways[i].fired(), 0),
});

export const leaving = (how: 'lag' | 'diverge'): Strike => ({
  begin: ({ nodes }) => nodes[1][how](),
  end: ({ nodes }) => nodes[1].follow(),
  fired: ({ nodes }) => nodes[1].differed(),
});

/** Both nodes: of two that say different things the one that took it is believed. */
export const lying = (how: 'refuse' | 'evict'): Strike => ({
  begin: ({ nodes }) => nodes.map((node) => node[how]()),
  end: async ({ nodes }) => {
    for (const node of nodes) await node.remember();
  },
  fired: ({ nodes }) => nodes[0].lied(),
});

/** A round asks both nodes some ten questions, and gets nowhere without an answer to each. */
const LOST = { question: 0.03, broadcast: 0.5 };

/** Counted are transactions that a node has and whose sender does not know it. */
export const losing: Strike = {
  begin({ ways, questions, protocol }) {
    const methods = Object.fromEntries(questions.map((method) => [method, LOST.question]));
    for (const way of ways)
      way.set({ kind: 'lose answers', methods: { ...methods, [protocol.sends]: LOST.broadcast } });
  },
  end: ({ ways }) => ways.map((way) => way.set({ kind: 'pass' })),
  fired: ({ ways, protocol }) => ways.reduce((sum, way) => sum + way.counted(protocol.sends).lost, 0),
};
