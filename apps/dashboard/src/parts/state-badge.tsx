import { Badge } from '@mantine/core';

type Tone = 'gray' | 'blue' | 'green' | 'yellow' | 'red';

/** Of invoices, payouts, refunds, batches, unresolved funds, endpoints, deliveries and recipients of e-mails. */
const tones: Readonly<Record<string, Tone>> = {
  pending: 'blue',
  partially_paid: 'yellow',
  confirmed: 'blue',
  paid: 'green',
  expired: 'gray',
  cancelled: 'gray',
  completed: 'green',
  mined: 'green',
  sent: 'blue',
  signed: 'blue',
  dropped: 'red',
  approved: 'green',
  rejected: 'red',
  created: 'green',
  refused: 'red',
  invalid: 'red',
  unavailable: 'yellow',
  undecided: 'blue',
  succeeded: 'green',
  failed: 'red',
  claimable: 'yellow',
  voided: 'gray',
  open: 'yellow',
  accepted: 'green',
  returned: 'gray',
  returning: 'blue',
  processing: 'blue',
  active: 'green',
  deactivated: 'gray',
  enabled: 'green',
  disabled: 'red',
  waiting: 'yellow',
  failing: 'red',
  paused: 'yellow',
  delivered: 'green',
  sending: 'blue',
  exhausted: 'red',
  revoked: 'gray',
  unconfirmed: 'yellow',
  unsubscribed: 'gray',
};

/** A state in words, with a colour for those who see it. */
export const StateBadge = ({ state, label }: { state: string; label?: string }) => (
  <Badge variant="light" color={tones[state] ?? 'gray'} radius="sm" tt="none" miw="max-content">
    {label ?? state.replaceAll('_', ' ')}
  </Badge>
);
