import type { PayoutQuote } from '@quittance/client';
import { useState } from 'react';
import { Empty, Page } from '../../parts/page.tsx';
import { useMay } from '../../session/session.ts';
import { PayoutForm, type PayoutValues } from './payout-form.tsx';
import { ReviewPayout } from './review-payout.tsx';

/** A payout in two steps: what is paid to whom, then all that it costs, and the button. */
export function RoutePage() {
  const [quoted, setQuoted] = useState<{ values: PayoutValues; quote: PayoutQuote | undefined }>();
  const mayPay = useMay('payouts:write');
  return (
    <Page
      title={quoted?.quote === undefined ? 'New payout' : 'Check the payout'}
      back={{ to: '/payouts', label: 'Payouts' }}
    >
      {!mayPay ? (
        <Empty title="Your role does not request payouts" />
      ) : quoted?.quote === undefined ? (
        <PayoutForm values={quoted?.values} onQuote={setQuoted} />
      ) : (
        <ReviewPayout
          values={quoted.values}
          first={quoted.quote}
          onBack={() => setQuoted({ values: quoted.values, quote: undefined })}
        />
      )}
    </Page>
  );
}
