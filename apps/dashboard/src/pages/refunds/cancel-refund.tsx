import type { Refund } from '@quittance/client';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/dialogs.tsx';
import { readAgain } from '../../queries.ts';
import { useMay } from '../../session/session.ts';

/** Ends a claim link that nobody has used. */
export function CancelRefund({ refund: { id, status } }: { refund: Refund }) {
  const mayCancel = useMay('refunds:write');
  if (!mayCancel || status !== 'claimable') return null;
  return (
    <ConfirmButton
      label="Cancel the link"
      title="Cancel the claim link"
      size="xs"
      act={() => quittance.refunds.cancel(id)}
      onDone={() => readAgain('refunds', 'invoices')}
    >
      The link pays nothing any more. What the refund has taken of the invoice can be refunded again.
    </ConfirmButton>
  );
}
