import { Anchor, Group, Stack } from '@mantine/core';
import type { InvoiceQuery } from '@quittance/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { quittance } from '../../client.ts';
import { Fiat } from '../../parts/amount.tsx';
import { Loaded } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { REFRESH_MS } from '../../queries.ts';

const SHOWN = 5;

/** The newest invoices that a filter matches. The children stand where there are none. */
export function RecentInvoices({ query, children }: { query: InvoiceQuery; children: ReactNode }) {
  const recent = useQuery({
    queryKey: ['invoices', 'recent', query],
    queryFn: async ({ signal }) =>
      (await quittance.invoices.list({ ...query, perPage: SHOWN }, { signal })).data,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Loaded query={recent}>
      {(invoices) =>
        invoices.length === 0 ? (
          children
        ) : (
          <Stack gap="xs">
            {invoices.map(({ id, external_id, amount_fiat, currency = 'USD', status }) => (
              <Group key={id} gap="xs" justify="space-between">
                <Group gap="xs">
                  <Fiat value={amount_fiat} currency={currency} size="sm" fw={600} />
                  <StateBadge state={status} />
                </Group>
                <Anchor component={Link} to={`/invoices/${id}`} size="sm">
                  {external_id ?? `${id.slice(0, 12)}…`}
                </Anchor>
              </Group>
            ))}
          </Stack>
        )
      }
    </Loaded>
  );
}
