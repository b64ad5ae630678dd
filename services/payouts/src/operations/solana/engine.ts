import type { Engine } from '../../engines.ts';

export const solanaEngine: Engine<'solana'> = {
  async run() {
    throw new Error('payouts on solana are not built yet');
  },
};
