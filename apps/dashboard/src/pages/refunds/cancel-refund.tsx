import type { Refund } from '@quittance/client';
import { useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useMay } from '../../session/session.ts';

/** Ends a claim link that nobody has used. */
export function CancelRefund({ refund: { id, status } }: { refund: Refund }) {
  const client = useQueryClient();
  const mayCancel = useMay('refunds:write');
  if (!mayCancel || status !== 'claimable') return null;
  const readAgain = () =>
    Promise.all(['refunds', 'invoices'].map((list) => client.invalidateQueries({ queryKey: [list] })));
  return (
    <ConfirmButton
      label="Cancel the link"
      title="Cancel the claim link"
      size="xs"
      act={() => quittance.refunds.cancel(id)}
      onDone={readAgain}
    >
      The link pays nothing any more. What the refund has taken of the invoice can be refunded again.
    </ConfirmButton>
  );
}
