import type { Invoice } from '@quittance/client';
import { useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useMay } from '../../session/session.ts';

/** Whether the API may cancel it: it decides when it is asked. */
const isCancelable = ({ status, cancelled_at, expires_at }: Invoice): boolean =>
  cancelled_at === null && (status === 'pending' || (status === 'partially_paid' && expires_at === null));

export function CancelInvoice({ invoice }: { invoice: Invoice }) {
  const client = useQueryClient();
  const mayCancel = useMay('invoices:write');
  if (!mayCancel || !isCancelable(invoice)) return null;
  return (
    <ConfirmButton
      label="Cancel invoice"
      title="Cancel the invoice"
      act={() => quittance.invoices.cancel(invoice.id)}
      onDone={() => client.invalidateQueries({ queryKey: ['invoices'] })}
    >
      {invoice.status === 'pending'
        ? 'It cannot be paid any more. A payment that comes all the same waits for your decision among the unresolved funds.'
        : 'Nothing more can be paid. What was paid waits for your decision among the unresolved funds.'}
    </ConfirmButton>
  );
}
