import type { Engine } from '../../engines.ts';
import type { EvmPorts } from '../../ports.ts';
import { sayBarred } from '../say-barred.ts';
import { bumpStuck } from './bump-stuck.ts';
import { followTransactions } from './follow-transactions.ts';
import { payReserved } from './pay-reserved.ts';
import { sweepWorthwhile } from './sweep-worthwhile.ts';
import { unknownHistory } from './unknown-history.ts';

/** Ethereum and the networks like it: every transaction of a wallet has a number, and is mined in that order. */
export const evmEngine: Engine<'evm'> = {
  bar: unknownHistory,

  async run(ports, lease) {
    const followed = await followTransactions(ports, lease);
    if (!(await mayGoOn(ports))) return followed;
    const bumped = await bumpStuck(ports, lease);
    const paid = await payReserved(ports, lease);
    const swept = await sweepWorthwhile(ports, lease);
    return followed + bumped + paid + swept;
  },
};

/** No nonce is given out while the chain has used others that are not known here. */
async function mayGoOn(ports: EvmPorts): Promise<boolean> {
  ports.signingBar.reason = await unknownHistory(ports);
  if (ports.signingBar.reason === undefined) return true;
  sayBarred(ports);
  return false;
}
