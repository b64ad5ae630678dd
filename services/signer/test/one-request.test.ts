import { describe, expect, it } from '@jest/globals';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import type { AssetSigningLimits } from '../src/domain/limits.ts';
import { signerSuite } from './signer-fixture.ts';
import {
  aSolanaTransfer,
  aSpend,
  aSweep,
  aTransfer,
  bumped,
  type OrderOfPayouts,
  recipients,
} from './signer-orders.ts';

const fixture = await signerSuite();

const ofBitcoin = (id: string) =>
  fixture.hold(id, { asset: 'BTC', amount: '10000', destination: recipients.bitcoin });

const threePayouts = (): OrderOfPayouts[] => {
  const first = aTransfer(fixture.hold('1'));
  // Another attempt does not count once more.
  const others = ['2', '3'].map((id, i) => aTransfer(fixture.hold(id), { nonce: i + 1 }));
  return [first, bumped(first), ...others];
};

type Sequence = {
  /** Why the last one is refused. */
  because: string;
  chain?: Chain;
  limits?: { readonly [A in AssetSymbol]?: AssetSigningLimits };
  orders: () => OrderOfPayouts[];
};

const sequences: Record<string, Sequence> = {
  'another nonce for the same payout': {
    because: 'another transaction of the payout may still be mined',
    orders: () => [aTransfer(fixture.hold('1')), aTransfer('1', { nonce: 1 })],
  },
  'the same payout for another amount': {
    because: 'the payout is of another amount',
    orders: () => [aTransfer(fixture.hold('1')), aTransfer('1', { amount: units(999n) })],
  },
  'another attempt of a payout on Solana': {
    because: 'another transaction of the payout may still be mined',
    chain: 'solana',
    orders: () => {
      fixture.hold('1', { asset: 'SOL', destination: recipients.solana });
      return [aSolanaTransfer('1'), aSolanaTransfer('1', { priorityFee: 20_000n })];
    },
  },
  'an input with another amount than before': {
    because: 'an input was told with another amount before, or twice',
    chain: 'bitcoin',
    orders: () => [aSpend([ofBitcoin('1')], [1]), aSpend([ofBitcoin('2')], [1], { of: 50_000n })],
  },
  'fees above those of 24 hours': {
    because: 'network fees are above their limit of 24 hours',
    limits: { ETH: { fees_per_24h: units(2n * 21_000n * 10n ** 9n) } },
    orders: () => [aSweep(), aSweep({ nonce: 1 }), aTransfer(fixture.hold('1'))],
  },
  'more than an account may be paid in 24 hours': {
    because: 'the account is above its limit of 24 hours',
    limits: { ETH: { per_account_24h: units(2_000n) } },
    orders: threePayouts,
  },
  'more than may be paid of an asset in 24 hours': {
    because: 'the asset is above its limit of 24 hours',
    limits: { ETH: { per_24h: units(2_000n) } },
    orders: threePayouts,
  },
};

describe.each(Object.entries(sequences))(
  '%s',
  (_what, { because, chain = 'ethereum', limits = {}, orders }) => {
    it('is refused after what was signed in former requests', async () => {
      fixture.set({ limits });
      const all = orders();
      for (const order of all.slice(0, -1)) expect((await fixture.sign(chain, [order])).refused).toBeNull();
      expect(await fixture.sign(chain, all.slice(-1))).toMatchObject({ signed: [], refused: { because } });
    });

    it('is refused after what was signed in the same request, which is stored', async () => {
      fixture.set({ limits });
      const all = orders();
      const { signed, refused } = await fixture.sign(chain, all);
      expect(refused).toMatchObject({ because });
      expect(signed).toHaveLength(all.length - 1);
      expect(await fixture.rows()).toMatchObject({ signatures: all.length - 1 });
      expect(await fixture.sign(chain, all)).toEqual({ signed, refused });
    });
  },
);
