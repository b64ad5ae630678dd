type Told = { event: string; data: unknown };
export type Subject = { id: string; to: string | undefined };

/** Which invoice, payout or refund an event tells of, and its page where it has one. */
export function subjectOf({ event, data }: Told): Subject | undefined {
  if (typeof data !== 'object' || data === null || !('id' in data)) return undefined;
  // Payouts have numbers.
  if (typeof data.id !== 'string' && typeof data.id !== 'number') return undefined;
  const id = String(data.id);
  const folder = event.startsWith('invoice.')
    ? 'invoices'
    : event.startsWith('payout.')
      ? 'payouts'
      : undefined;
  return { id, to: folder === undefined ? undefined : `/${folder}/${encodeURIComponent(id)}` };
}
