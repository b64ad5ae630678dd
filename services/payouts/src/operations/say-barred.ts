import type { ChainPorts } from '../ports.ts';

/** An operator must look: nothing is signed on this chain until then. */
export function sayBarred({
  chain,
  signingBar,
  notices,
}: Pick<ChainPorts, 'chain' | 'signingBar' | 'notices'>): void {
  notices.say('error', `signing_bar.${chain}`, { chain, reason: signingBar.reason }, 'nothing is signed');
}
