import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import type { Invoice } from '@quittance/client';
import { Link } from '@tanstack/react-router';
import { Amount, Fiat } from '../../parts/amount.tsx';
import { PayInSandbox } from '../../parts/pay-in-sandbox.tsx';
import { ShareLink } from '../../parts/share-link.tsx';
import { Time } from '../../parts/time.tsx';

/** What to do with a new invoice: send its link to the customer, or let the code be scanned. */
export const CreatedInvoice = ({ invoice, onAnother }: { invoice: Invoice; onAnother(): void }) => (
  <Paper withBorder p="lg" maw={640}>
    <Stack>
      <Text>
        <Fiat value={invoice.amount_fiat} currency={invoice.currency} fw={600} />
        {invoice.amount !== null && invoice.asset !== null && (
          <>
            {' '}
            = <Amount value={invoice.amount} asset={invoice.asset.symbol} />
          </>
        )}
        {invoice.expires_at !== null && (
          <>
            , to be paid until <Time at={invoice.expires_at} />
          </>
        )}
      </Text>
      <ShareLink url={invoice.url} label="payment page" />
      <PayInSandbox invoice={invoice} />
      <Group>
        <Button component={Link} to={`/invoices/${invoice.id}`} variant="default">
          Show the invoice
        </Button>
        <Button variant="subtle" onClick={onAnother}>
          Another invoice
        </Button>
      </Group>
    </Stack>
  </Paper>
);
