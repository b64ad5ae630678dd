import type { PayoutQuote } from '@quittance/client';
import { useState } from 'react';
import { Empty, Page } from '../../parts/page.tsx';
import { useMay } from '../../session/session.ts';
import { PayoutForm, type PayoutValues } from './payout-form.tsx';
import { ReviewPayout } from './review-payout.tsx';

/** A payout in two steps: what is paid to whom, then all that it costs, and the button. */
export function RoutePage() {
  const [values, setValues] = useState<PayoutValues>();
  const [quote, setQuote] = useState<PayoutQuote>();
  const mayPay = useMay('payouts:write');
  return (
    <Page
      title={quote === undefined ? 'New payout' : 'Check the payout'}
      back={{ to: '/payouts', label: 'Payouts' }}
    >
      {!mayPay ? (
        <Empty title="Your role does not request payouts" />
      ) : quote === undefined || values === undefined ? (
        <PayoutForm
          values={values}
          onQuote={(given, found) => {
            setValues(given);
            setQuote(found);
          }}
        />
      ) : (
        <ReviewPayout values={values} first={quote} onBack={() => setQuote(undefined)} />
      )}
    </Page>
  );
}
