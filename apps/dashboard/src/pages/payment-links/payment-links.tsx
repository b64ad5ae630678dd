import { Anchor } from '@mantine/core';
import type { PaymentLink } from '@quittance/client';
import { Link } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { assetName } from '../../parts/amount.tsx';
import { type Column, ListPage } from '../../parts/list-page.tsx';
import { Page } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session/session.ts';
import { priceOf } from './link-price.tsx';
import { NewLink } from './new-link.tsx';

const columns: readonly Column<PaymentLink>[] = [
  {
    id: 'description',
    title: 'What is paid',
    render: ({ id, description }) => (
      <Anchor
        component={Link}
        to={`/payment-links/${id}`}
        size="sm"
        lineClamp={2}
        miw={140}
        onClick={(event) => event.stopPropagation()}
      >
        {description}
      </Anchor>
    ),
  },
  { id: 'price', title: 'Price', align: 'right', render: priceOf },
  { id: 'status', title: 'Status', render: ({ status }) => <StateBadge state={status} /> },
  {
    id: 'asset',
    title: 'Assets',
    isHidden: true,
    render: ({ asset, assets }) =>
      asset !== null ? assetName(asset) : assets === 'all' ? 'all' : (assets ?? []).map(assetName).join(', '),
  },
  {
    id: 'open_invoices',
    title: 'Open invoices',
    align: 'right',
    render: ({ open_invoices, max_open }) => `${open_invoices} of ${max_open}`,
  },
  {
    id: 'valid_until',
    title: 'Ends',
    render: ({ valid_until }) => (valid_until === null ? 'never' : <Time at={valid_until} />),
  },
  { id: 'created_at', title: 'Created', render: ({ created_at }) => <Time at={created_at} /> },
];

export function RoutePage() {
  const mayCreate = useMay('invoices:write');
  return (
    <Page title="Payment links" actions={mayCreate && <NewLink />}>
      <ListPage
        name="payment-links"
        load={(query, signal) => quittance.paymentLinks.list(query, { signal })}
        columns={columns}
        to={({ id }) => `/payment-links/${id}`}
        empty={{
          title: 'No payment links yet',
          text: 'A payment link is a page to share or to print, which can be paid any number of times. Each payment is an invoice.',
        }}
      />
    </Page>
  );
}
