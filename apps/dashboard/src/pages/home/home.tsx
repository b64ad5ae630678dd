import { Grid, Stack } from '@mantine/core';
import { Page, PageLink, Section } from '../../parts/page.tsx';
import { useMay } from '../../session/session.ts';
import { RecentInvoices } from '../invoices/recent-invoices.tsx';
import { BalanceCards } from './balance-cards.tsx';
import { FirstSteps } from './first-steps.tsx';
import { NeedsAttention } from './needs-attention.tsx';
import { Volume } from './volume.tsx';

/** How the account stands, and what to do next. */
export function RoutePage() {
  const [mayBalances, mayInvoices] = [useMay('balances:read'), useMay('invoices:read')];
  return (
    <Page title="Home">
      <Grid>
        <Grid.Col span={{ base: 12, md: 7 }} order={{ base: 2, md: 1 }}>
          <Stack>
            <FirstSteps />
            {mayBalances && <BalanceCards />}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }} order={{ base: 1, md: 2 }}>
          <Stack>
            <NeedsAttention />
            {mayInvoices && (
              <Section title="Newest invoices" actions={<PageLink to="/invoices">All invoices</PageLink>}>
                <RecentInvoices query={{}} none="No invoices yet." />
              </Section>
            )}
          </Stack>
        </Grid.Col>
        {mayInvoices && (
          <Grid.Col span={12} order={3}>
            <Volume />
          </Grid.Col>
        )}
      </Grid>
    </Page>
  );
}
