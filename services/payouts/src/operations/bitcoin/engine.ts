import type { Engine } from '../../engines.ts';
import { followFamilies } from './follow-families.ts';
import { payReserved } from './pay-reserved.ts';
import { recordCoins, reverseCoins } from './record-coins.ts';
import { settleMined } from './settle-mined.ts';
import { unknownSpends } from './unknown-spends.ts';
import { watchHotAddress } from './watch-hot-address.ts';

/** Bitcoin: outputs are spent as a whole, one transaction pays many, and what is signed twice spends the same outputs. */
export const bitcoinEngine: Engine<'bitcoin'> = {
  bar: unknownSpends,

  async run(ports, lease) {
    const followed = await followFamilies(ports, lease);
    await watchHotAddress(ports, lease);
    const paid = await payReserved(ports, lease);
    return followed + paid;
  },

  standsBy: (db, mined) => db.transaction((trx) => settleMined(trx, mined)),
  recordDeposits: recordCoins,
  reverseDeposits: reverseCoins,
};
