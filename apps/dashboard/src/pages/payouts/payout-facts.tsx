import type { Payout } from '@quittance/client';
import { Address } from '../../parts/address.tsx';
import { Amount, fiat } from '../../parts/amount.tsx';
import { networkName } from '../../parts/networks.ts';
import { Facts } from '../../parts/page.tsx';

type Shown = Pick<Payout, 'amount' | 'network_fee' | 'total' | 'usd_value'> & {
  asset: { symbol: string; name: string };
  to_address: string | null;
};

/** What leaves, and where it goes: the same wherever somebody decides about a payout. */
export function PayoutFacts({
  payout,
  more = [],
}: {
  payout: Shown;
  more?: Parameters<typeof Facts>[0]['facts'];
}) {
  const { asset, amount, network_fee: fee, total, to_address: address, usd_value: usd } = payout;
  return (
    <Facts
      facts={[
        ['Asset', asset.name],
        ['Network', networkName(asset.symbol)],
        ['To', address === null ? null : <Address key="to" address={address} />],
        ['Amount', <Amount key="amount" value={amount} asset={asset.symbol} fw={700} />],
        ['In US dollars', usd === null ? null : fiat(usd, 'USD')],
        ['Network fee', <Amount key="fee" value={fee} asset={asset.symbol} />],
        ['Total', <Amount key="total" value={total} asset={asset.symbol} fw={700} />],
        ...more,
      ]}
    />
  );
}
