import { quittance } from '../../client.ts';
import { Loaded, Page } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { SHOP } from './shop-changes.ts';
import { ShopForm } from './shop-form.tsx';

/** What the pages of customers show, and what new invoices have where nothing is said. */
export function RoutePage() {
  // What is typed is compared with what was read.
  const query = useRead(SHOP, (options) => quittance.invoiceSettings.retrieve(options), {
    refetchOnWindowFocus: false,
  });
  return (
    <Page title="Shop">
      <Loaded query={query}>{(settings) => <ShopForm settings={settings} />}</Loaded>
    </Page>
  );
}
