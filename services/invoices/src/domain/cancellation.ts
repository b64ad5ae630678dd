import { sum } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { earlier } from './deposit.ts';
import type { Invoice } from './invoice.ts';
import type { PaymentTotals } from './invoice-state.ts';

/** Why an invoice cannot be cancelled. */
export type CancelRefusal = 'payment_seen' | 'paid' | 'expired';

/** When a cancelled invoice ended, and expired. */
export type Cancellation = { cancelledAt: Date; expiresAt: Date };

/**
 * An invoice is cancelled while nothing was seen for it, and nothing that was seen may come back. Payments that do not count
 * (another asset, dust) do not keep it open. One that never expires is also cancelled when a part of it is paid and final:
 * nothing else would end it, and the part would be in no balance. Undefined: it was cancelled before.
 */
export function decideCancellation(
  invoice: Pick<Invoice, 'status' | 'expiresAt' | 'cancelledAt'>,
  paid: PaymentTotals,
  now: Date,
): Result<Cancellation | undefined, CancelRefusal> {
  const { status, expiresAt, cancelledAt } = invoice;
  if (cancelledAt !== null) return ok(undefined);
  if (status === 'paid' || status === 'expired') return refuse(status);
  const timely = sum([paid.timelyFinal, paid.timelyPending, paid.timelyWaiting]);
  const late = sum([paid.lateFinal, paid.latePending, paid.lateWaiting]);
  const hasPart =
    expiresAt === null && status === 'partially_paid' && timely === paid.timelyFinal && timely > 0n;
  const hasNothing = status === 'pending' && timely === 0n;
  if ((!hasNothing && !hasPart) || late > 0n || paid.isAwaited) return refuse('payment_seen');
  return ok({ cancelledAt: now, expiresAt: expiresAt === null ? now : earlier(expiresAt, now) });
}
