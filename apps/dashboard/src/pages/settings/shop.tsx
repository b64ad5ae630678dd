import { useQuery } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { Loaded, Page } from '../../parts/page.tsx';
import { SHOP } from './shop-changes.ts';
import { ShopForm } from './shop-form.tsx';

/** What the pages of customers show, and what new invoices have where nothing is said. */
export function RoutePage() {
  const query = useQuery({
    queryKey: SHOP,
    queryFn: ({ signal }) => quittance.invoiceSettings.retrieve({ signal }),
    // What is typed is compared with what was read.
    refetchOnWindowFocus: false,
  });
  return (
    <Page title="Shop">
      <Loaded query={query}>{(settings) => <ShopForm settings={settings} />}</Loaded>
    </Page>
  );
}
