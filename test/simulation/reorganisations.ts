import type { ReorgFate } from './chain.ts';
import type { Environment } from './environment.ts';

const FATES: readonly ReorgFate[] = ['pending', 'moved', 'forgotten', 'replaced'];
/** Of those deeper than the confirmations: what comes back to the chain shows nothing. */
const DEEP_FATES: readonly ReorgFate[] = ['pending', 'replaced', 'forgotten', 'replaced'];

export type Reorganisation = { depth: number; fate: ReorgFate };

/** Draws how deep the reorganisations of a scenario go. @returns what draws each; undefined when there are none */
export function drawReorganisations({
  chance,
  chain,
}: Pick<Environment, 'chance' | 'chain'>): (() => Reorganisation) | undefined {
  const deep = chain.minConfirmations + 1;
  const toDepth = chance.oneOf([0, 1, 2, deep, deep]);
  if (toDepth === 0) return undefined;
  const isDeep = toDepth === deep;
  return () => ({
    fate: chance.oneOf(isDeep ? DEEP_FATES : FATES),
    depth: isDeep || chance.percent(50) ? toDepth : chance.between(1, toDepth),
  });
}
