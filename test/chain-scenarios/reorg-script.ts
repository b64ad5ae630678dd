import { seeded } from '@quittance/testkit/seeded';

/**
 * What happens on a chain while it is reorganised, without a word of any chain's own: payments of customers, the
 * blocks they lie in, and branches that put others in their place. Made from a seed, so that what failed can be
 * done again.
 */
export type Payment = {
  /** To which invoices, in percent of what is due; more than one where a transaction can. */
  pays: { invoice: number; percent: number }[];
  /** The second way of spending the same money: to a stranger (undefined), or to another invoice. */
  otherwise: number | undefined;
  /** How the chain brings it: one of the chain's own forms. */
  form: number;
};

/** A payment of the script, as it was meant or the second way. */
export type Entry = { payment: number; way: 'first' | 'second' };

export type Step =
  | { do: 'mine'; block: Entry[] }
  /** The newest blocks give way to a longer branch. */
  | { do: 'reorg'; depth: number; blocks: Entry[][] }
  /** The service looks at the chain. */
  | { do: 'look' };

export type ReorgScript = {
  seed: number;
  invoices: number;
  payments: Payment[];
  steps: Step[];
  /** Payments that no block of the chain has in the end. */
  waiting: number[];
};

export const DEPTH_MAX = 6;
const INVOICES_MAX = 4;
const REORGS_MAX = 3;
const PERCENTS = [100, 100, 100, 50, 50, 60, 130, 30, 1];

export function reorgScript(seed: number): ReorgScript {
  const random = seeded(seed);
  const upTo = (n: number) => Math.floor(random() * n);
  const chance = (share: number) => random() < share;
  const one = <T>(of: readonly T[]): T => of[upTo(of.length)] as T;

  const invoices = 1 + upTo(INVOICES_MAX);
  const payments = Array.from({ length: invoices + upTo(4) }, (_, i): Payment => {
    const first = i < invoices ? i : upTo(invoices);
    const more = chance(0.2) ? [{ invoice: upTo(invoices), percent: one(PERCENTS) }] : [];
    return {
      pays: [{ invoice: first, percent: one(PERCENTS) }, ...more],
      otherwise: chance(0.4) ? upTo(invoices) : undefined,
      form: upTo(1_000),
    };
  });

  const steps: Step[] = [];
  const chain: Entry[][] = [];
  /** Money that no block of the chain spends. */
  const waiting = new Set(payments.keys());
  const take = (payment: number, secondShare: number): Entry => {
    waiting.delete(payment);
    return { payment, way: chance(secondShare) ? 'second' : 'first' };
  };
  const look = () => {
    if (chance(0.7)) steps.push({ do: 'look' });
  };
  const mine = (share: number) => {
    const block = [...waiting].filter(() => chance(share)).map((payment) => take(payment, 0.1));
    chain.push(block);
    steps.push({ do: 'mine', block });
    look();
  };

  /** The newest blocks' payments stay where they were, move, are spent otherwise, wait for later, or for ever. */
  function reorg(depth: number) {
    const dropped = chain.splice(chain.length - depth, depth);
    const blocks: Entry[][] = Array.from({ length: depth + 1 + upTo(2) }, () => []);
    for (const [at, block] of dropped.entries()) {
      for (const entry of block) {
        const fate = random();
        if (fate < 0.25) blocks[at]?.push(entry);
        else if (fate < 0.5) one(blocks).push(entry);
        else if (fate < 0.7) one(blocks).push({ ...entry, way: entry.way === 'first' ? 'second' : 'first' });
        else waiting.add(entry.payment);
      }
    }
    chain.push(...blocks);
    steps.push({ do: 'reorg', depth, blocks });
    look();
  }

  const reorgs = 1 + upTo(REORGS_MAX);
  for (let i = 0; i < reorgs; i++) {
    const depth = 1 + upTo(DEPTH_MAX);
    const blocks = 1 + upTo(4);
    for (let n = 0; n < blocks || chain.length < depth; n++) mine(0.6);
    reorg(depth);
  }
  // Some come back after all, soon or when they were given up.
  const tail = upTo(2 * DEPTH_MAX);
  for (let n = 0; n < tail; n++) mine(0.05);
  return { seed, invoices, payments, steps, waiting: [...waiting] };
}
