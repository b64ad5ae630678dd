import { Anchor, Button, CopyButton, Grid, Stack, Text } from '@mantine/core';
import { type Invoice, isPayable } from '@quittance/client';
import { IconCheck, IconCopy, IconExternalLink } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { assetName, fiat } from '../../parts/amount.tsx';
import { sum } from '../../parts/decimal.ts';
import { Failure } from '../../parts/failure.tsx';
import { Loaded, Page } from '../../parts/page.tsx';
import { usePageId } from '../../parts/page-id.ts';
import { PayInSandbox } from '../../parts/pay-in-sandbox.tsx';
import { Section } from '../../parts/section.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useMay } from '../../session/session.ts';
import { CancelInvoice } from './cancel-invoice.tsx';
import { InvoiceFacts } from './invoice-facts.tsx';
import { Payments, Refunds, UnresolvedOfInvoice } from './invoice-lists.tsx';
import { useInvoice, useInvoiceRecords } from './invoice-records.ts';
import { InvoiceTimeline } from './invoice-timeline.tsx';
import { refundable } from './refund-amount.ts';
import { RefundButton } from './refund-button.tsx';
import { timelineOf } from './timeline.ts';

const BACK = { to: '/invoices', label: 'Invoices' };

export function RoutePage() {
  const query = useInvoice(usePageId());
  if (query.data === undefined)
    return (
      <Page title="Invoice" back={BACK}>
        <Loaded query={query}>{() => null}</Loaded>
      </Page>
    );
  return <InvoicePage invoice={query.data} error={query.error} onRetry={query.refetch} />;
}

type Props = { invoice: Invoice; error: Error | null; onRetry(): unknown };

function InvoicePage({ invoice, error, onRetry }: Props) {
  const { records, isCut, errors } = useInvoiceRecords(invoice);
  const mayRefund = useMay('refunds:write');
  const accepted = (records.unresolved ?? []).filter(
    ({ status, asset }) => status === 'accepted' && asset.symbol === invoice.asset?.symbol,
  );
  const left = isPayable(invoice)
    ? refundable(invoice, sum(accepted.map(({ amount }) => amount)), records.refunds)
    : undefined;
  return (
    <Page
      title={invoice.external_id ?? fiat(invoice.amount_fiat, invoice.currency)}
      back={BACK}
      mark={<StateBadge state={invoice.status} />}
      actions={
        <>
          <CopyLink url={invoice.url} />
          <Button
            component="a"
            href={invoice.url}
            target="_blank"
            rel="noreferrer"
            variant="default"
            leftSection={<IconExternalLink size={16} />}
          >
            Payment page
          </Button>
          {mayRefund && isPayable(invoice) && left !== undefined && (
            <RefundButton invoice={invoice} refundable={left} />
          )}
          <CancelInvoice invoice={invoice} />
        </>
      }
    >
      {error !== null && <Failure error={error} onRetry={onRetry} />}
      <Grid>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack>
            <UnresolvedOfInvoice funds={records.unresolved ?? []} />
            <InvoiceFacts invoice={invoice} />
            <PayInSandbox invoice={invoice} />
            <Payments invoice={invoice} />
            <Refunds refunds={records.refunds ?? []} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Section title="Timeline">
            {errors[0] !== undefined && <Failure error={errors[0]} />}
            <InvoiceTimeline entries={timelineOf(records, assetName)} />
            {isCut && (
              <Text size="xs" c="dimmed">
                Much happened in the account in this time. Some events of the invoice may be missing here:{' '}
                <Anchor component={Link} to="/events" inherit>
                  the event log
                </Anchor>{' '}
                has all.
              </Text>
            )}
          </Section>
        </Grid.Col>
      </Grid>
    </Page>
  );
}

const CopyLink = ({ url }: { url: string }) => (
  <CopyButton value={url}>
    {({ copied, copy }) => (
      <Button
        variant="default"
        leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        onClick={copy}
      >
        {copied ? 'Copied' : 'Copy link'}
      </Button>
    )}
  </CopyButton>
);
