import { Group } from '@mantine/core';
import type { PayoutBatch } from '@quittance/client';
import { StateBadge } from '../../parts/state-badge.tsx';

export const modeNames: Readonly<Record<PayoutBatch['mode'], string>> = {
  each: 'each by itself',
  all_or_nothing: 'all or nothing',
};

export type LineStatus = PayoutBatch['lines'][number]['status'];
export const lineStatuses: readonly LineStatus[] = [
  'created',
  'refused',
  'invalid',
  'unavailable',
  'undecided',
];

/** How many lines have which status, without those that none has. */
export const BatchTotals = ({ totals }: { totals: PayoutBatch['totals'] }) => (
  <Group gap={6}>
    {lineStatuses
      .filter((status) => totals[status] > 0)
      .map((status) => (
        <StateBadge key={status} state={status} label={`${totals[status]} ${status}`} />
      ))}
  </Group>
);
