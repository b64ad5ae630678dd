import { QuittanceError } from '@quittance/client';
import { useEffect } from 'react';
import { quittance } from '../client.ts';
import { readAgain } from '../queries.ts';
import { useMay } from '../session/session.ts';

const AGAIN_MS = 5_000;

/** Which lists an event changes, by the first part of its type. */
const changedBy: Readonly<Record<string, readonly string[]>> = {
  invoice: ['invoices', 'unresolved', 'refunds', 'balances', 'balance-transactions', 'payment-links'],
  payout: ['payouts', 'payout-batches', 'balances', 'balance-transactions', 'refunds', 'unresolved'],
  refund: ['refunds', 'invoices', 'balances'],
};

/** Follows the events of the account, and has read again what they change. Whose role does not read events sees it a little later. */
export function useLiveUpdates(): void {
  const mayFollow = useMay('events:read');
  useEffect(() => {
    if (!mayFollow) return;
    const stop = new AbortController();
    void follow(stop.signal, (subject) => void readAgain('events', ...(changedBy[subject] ?? [])));
    return () => stop.abort();
  }, [mayFollow]);
}

async function follow(signal: AbortSignal, onChange: (subject: string) => void): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { event } of quittance.events.follow({ signal })) onChange(event.split('.')[0] ?? '');
    } catch (error) {
      // What is shown is read again from time to time as well, and says itself what is wrong.
      if (!(error instanceof QuittanceError) && !signal.aborted) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
