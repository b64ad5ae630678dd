/** The types of balance transactions in words. */
export const transactionTypes: Readonly<Record<string, string>> = {
  payment: 'Payment',
  payment_reversal: 'Payment reversed',
  payment_recovery: 'Payment recovered',
  unresolved_accepted: 'Unresolved funds accepted',
  payout: 'Payout',
  payout_failed: 'Payout failed',
  payout_voided: 'Payout voided',
  refund: 'Refund',
  refund_failed: 'Refund failed',
  refund_voided: 'Refund voided',
};

export const typeName = (type: string): string => transactionTypes[type] ?? type.replaceAll('_', ' ');
