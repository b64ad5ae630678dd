import type { MailKind } from '@quittance/client';

/** What a recipient can be told of, the most urgent first. */
export const mailKinds: readonly { value: MailKind; label: string; meaning: string }[] = [
  { value: 'payout_failed', label: 'Payout failed', meaning: 'A payout was not carried out' },
  { value: 'paid_late', label: 'Paid late', meaning: 'A payment came after its invoice had expired' },
  {
    value: 'paid_short',
    label: 'Paid short',
    meaning: 'An invoice expired with a part, or was paid in another asset',
  },
  {
    value: 'webhook_failing',
    label: 'Webhook endpoint failing',
    meaning: 'An endpoint takes no events, or was disabled',
  },
  { value: 'paid', label: 'Paid', meaning: 'An invoice is paid' },
];

const labels = new Map(mailKinds.map(({ value, label }) => [value, label]));

/** In the order of the list. */
export const kindsText = (kinds: readonly MailKind[]): string =>
  kinds.length === mailKinds.length
    ? 'Everything'
    : mailKinds
        .filter(({ value }) => kinds.includes(value))
        .map(({ value }) => labels.get(value) ?? value)
        .join(', ');

/** A new recipient is told of what needs attention. Sales are many. */
export const usualKinds: readonly MailKind[] = mailKinds
  .map(({ value }) => value)
  .filter((kind) => kind !== 'paid');
