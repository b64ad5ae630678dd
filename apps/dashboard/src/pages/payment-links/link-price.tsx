import type { PaymentLink } from '@quittance/client';
import type { ReactNode } from 'react';
import { assetName, Fiat } from '../../parts/values.tsx';

/** The price of a link, or what the payer may type. */
export function priceOf({ amount_fiat: price, amount_min, amount_max, currency }: PaymentLink): ReactNode {
  const amount = (value: string) => <Fiat value={value} currency={currency} />;
  if (price !== null) return amount(price);
  if (amount_min === null && amount_max === null) return `any amount in ${currency}`;
  return (
    <>
      {amount_min !== null && <>from {amount(amount_min)} </>}
      {amount_max !== null && <>up to {amount(amount_max)}</>}
    </>
  );
}

/** What it is paid in. @param all what is said where the payer chooses among all */
export const assetsOf = ({ asset, assets }: PaymentLink, all: string): string => {
  if (asset !== null) return assetName(asset);
  return assets === 'all' ? all : (assets ?? []).map(assetName).join(', ');
};
