import { Group, Stack } from '@mantine/core';
import type { InvoiceQuery } from '@quittance/client';
import { quittance } from '../../client.ts';
import { Loaded, Note, PageLink } from '../../parts/page.tsx';
import { useLive } from '../../parts/reading.ts';
import { Fiat, StateBadge } from '../../parts/values.tsx';

const SHOWN = 5;

/** The newest invoices that a filter matches. @param none what is said where there are none */
export function RecentInvoices({ query, none }: { query: InvoiceQuery; none: string }) {
  const recent = useLive(['invoices', 'recent', query], (options) =>
    quittance.invoices.list({ ...query, perPage: SHOWN }, options),
  );
  return (
    <Loaded query={recent}>
      {({ data }) => (
        <Stack gap="xs">
          {data.length === 0 && <Note>{none}</Note>}
          {data.map(({ id, external_id: reference, amount_fiat, currency = 'USD', status }) => (
            <Group key={id} gap="xs" justify="space-between">
              <Group gap="xs">
                <Fiat value={amount_fiat} currency={currency} size="sm" fw={600} />
                <StateBadge state={status} />
              </Group>
              <PageLink to={`/invoices/${id}`}>{reference ?? `${id.slice(0, 12)}…`}</PageLink>
            </Group>
          ))}
        </Stack>
      )}
    </Loaded>
  );
}
