import type { Payout } from '@quittance/client';
import type { ReactNode } from 'react';
import { networkName } from '../../parts/networks.ts';
import { Facts } from '../../parts/page.tsx';
import { Address, Amount, fiat } from '../../parts/values.tsx';

type Props = {
  payout: Pick<Payout, 'amount' | 'network_fee' | 'total' | 'usd_value'> & {
    asset: { symbol: string; name: string };
    to_address: string | null;
  };
  more?: Readonly<Record<string, ReactNode>>;
};

/** What leaves, and where it goes: the same wherever somebody decides about a payout. */
export function PayoutFacts({ payout, more }: Props) {
  const { asset, amount, network_fee: fee, total, to_address: address, usd_value: usd } = payout;
  return (
    <Facts
      facts={{
        Asset: asset.name,
        Network: networkName(asset.symbol),
        To: address && <Address address={address} />,
        Amount: <Amount value={amount} asset={asset.symbol} fw={700} />,
        'In US dollars': usd && fiat(usd, 'USD'),
        'Network fee': <Amount value={fee} asset={asset.symbol} />,
        Total: <Amount value={total} asset={asset.symbol} fw={700} />,
        ...more,
      }}
    />
  );
}
