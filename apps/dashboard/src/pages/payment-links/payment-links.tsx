import type { PaymentLink } from '@quittance/client';
import { quittance } from '../../client.ts';
import { ListPage } from '../../parts/list-page.tsx';
import { Page, PageLink } from '../../parts/page.tsx';
import { type Column, hidden, timeColumn } from '../../parts/table.tsx';
import { StateBadge } from '../../parts/values.tsx';
import { useMay } from '../../session/session.ts';
import { assetsOf, priceOf } from './link-price.tsx';
import { NewLink } from './new-link.tsx';

const columns: readonly Column<PaymentLink>[] = [
  {
    id: 'description',
    title: 'What is paid',
    render: ({ id, description }) => (
      <PageLink to={`/payment-links/${id}`} lineClamp={2} miw={140}>
        {description}
      </PageLink>
    ),
  },
  { id: 'price', title: 'Price', align: 'right', render: priceOf },
  { id: 'status', title: 'Status', render: ({ status }) => <StateBadge state={status} /> },
  { ...{ id: 'asset', title: 'Assets', ...hidden }, render: (link) => assetsOf(link, 'all') },
  {
    id: 'open_invoices',
    title: 'Open invoices',
    align: 'right',
    render: ({ open_invoices, max_open }) => `${open_invoices} of ${max_open}`,
  },
  timeColumn('valid_until', 'Ends', { never: 'never' }),
  timeColumn('created_at', 'Created'),
];

export function RoutePage() {
  const mayCreate = useMay('invoices:write');
  return (
    <Page title="Payment links" actions={mayCreate && <NewLink />}>
      <ListPage<PaymentLink>
        name="payment-links"
        load={(query, options) => quittance.paymentLinks.list(query, options)}
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
