import type { PaymentLink } from '@quittance/client';
import type { ReactNode } from 'react';
import { Fiat } from '../../parts/amount.tsx';

/** The price of a link, or what the payer may type. */
export function priceOf({
  amount_fiat: price,
  amount_min: min,
  amount_max: max,
  currency,
}: PaymentLink): ReactNode {
  if (price !== null) return <Fiat value={price} currency={currency} />;
  if (min === null && max === null) return `any amount in ${currency}`;
  return (
    <>
      {min !== null && (
        <>
          from <Fiat value={min} currency={currency} />{' '}
        </>
      )}
      {max !== null && (
        <>
          up to <Fiat value={max} currency={currency} />
        </>
      )}
    </>
  );
}
