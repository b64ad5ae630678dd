import type { Engine } from '../../engines.ts';
import { sayBarred } from '../say-barred.ts';
import { bumpStuck } from './bump-stuck.ts';
import { followTransactions } from './follow-transactions.ts';
import { noteGap } from './note-gap.ts';
import { payReserved } from './pay-reserved.ts';
import { sweepWorthwhile } from './sweep-worthwhile.ts';
import { readHistory } from './unknown-history.ts';

/** Ethereum and the networks like it: every transaction of a wallet has a number, and is mined in that order. */
export const evmEngine: Engine<'evm'> = {
  bar: async (ports) => (await readHistory(ports)).unknown,

  async run(ports, lease) {
    const { sender, signingBar } = ports;
    const followed = await followTransactions(ports, lease);
    const { used, unknown } = await readHistory(ports);
    // No nonce is given out while the chain has used others that are not known here.
    signingBar.reason = unknown;
    if (unknown !== undefined) {
      sayBarred(ports);
      return followed;
    }
    const bumped = await bumpStuck(ports, lease);
    // Before anything is planned: the balance shows the money of what has left the chain, or is of another time.
    const isNodeBehind = await noteGap(ports, sender.hotAddress, used);
    if (isNodeBehind) return followed + bumped;
    const paid = await payReserved(ports, lease);
    const swept = await sweepWorthwhile(ports, lease);
    return followed + bumped + paid + swept;
  },

  // Nodes prune receipts. A nonce that the chain has used is no gap.
  mayBeForgotten: async ({ sender }, { wallet, nonce }) =>
    nonce !== null && (await sender.nonce(wallet, 'latest')) > nonce,
};
