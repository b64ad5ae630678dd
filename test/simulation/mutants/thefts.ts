import { hash } from 'node:crypto';
import type { BitcoinSigner } from '@quittance/chains/bitcoin/signer';
import type { SolanaSigner } from '@quittance/chains/solana/signer';
import type { Mutant } from '../mutant.ts';
import { signsOtherwise } from './senders.ts';

const THIEF = 'thief';

type Signed = { raw: string; txHash: string };

/** The same bytes, but that they pay somebody else: they are words, so it is words that are changed. */
function paying<T extends Signed>(signed: T, from: string, to: string): T {
  const raw = signed.raw.replaceAll(from, to);
  const prefix = signed.txHash.startsWith('0x') ? '0x' : '';
  return { ...signed, raw, txHash: `${prefix}${hash('sha256', raw)}` };
}

type Sweeps = Pick<SolanaSigner, 'addresses'> & {
  signNativeSweep(order: object): Promise<Signed | 'not_worth_it'>;
  signTokenSweep(order: object): Promise<Signed>;
};

/** Where money goes that no merchant has asked for: books that nobody compares with the chain do not show it. */
export const theftMutants: readonly Mutant[] = [
  {
    name: 'swept-elsewhere',
    what: 'what lies on deposit addresses is swept to an address that is not ours',
    shows: /whom nobody was to pay/,
    kinds: ['evm', 'solana'],
    apply(wiring) {
      signsOtherwise<Sweeps>(wiring, ({ addresses: { hotAddress }, signNativeSweep, signTokenSweep }) => {
        const stolen = <S extends Signed>(signed: S): S =>
          paying(
            paying(signed, `"to":"${hotAddress}"`, `"to":"${THIEF}"`),
            `"owner":"${hotAddress}"`,
            `"owner":"${THIEF}"`,
          );
        return {
          async signNativeSweep(order) {
            const signed = await signNativeSweep(order);
            return signed === 'not_worth_it' ? signed : stolen(signed);
          },
          signTokenSweep: async (order) => stolen(await signTokenSweep(order)),
        };
      });
    },
  },
  {
    name: 'change-elsewhere',
    what: 'what is left of the coins that a payout spends goes to an address that is not ours',
    shows: /whom nobody was to pay/,
    kinds: ['bitcoin'],
    apply(wiring) {
      signsOtherwise<BitcoinSigner>(wiring, ({ signSpend, addresses: { address } }) => ({
        async signSpend(spend) {
          const signed = await signSpend(spend);
          if (spend.change === null) return signed;
          return paying(signed, `"${address('change', spend.change.index)}"`, `"${THIEF}"`);
        },
      }));
    },
  },
];
