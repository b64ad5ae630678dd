import { Group } from '@mantine/core';
import type { PayoutBatch } from '@quittance/client';
import { StateBadge } from '../../parts/values.tsx';

export const modeNames: Readonly<Record<PayoutBatch['mode'], string>> = {
  each: 'each by itself',
  all_or_nothing: 'all or nothing',
};

export const lineStatuses = ['created', 'refused', 'invalid', 'unavailable', 'undecided'] as const;

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
