import { Grid, Stack, Text, Timeline } from '@mantine/core';
import { type Invoice, isPayable } from '@quittance/client';
import { quittance } from '../../client.ts';
import { sum } from '../../parts/decimal.ts';
import { ConfirmButton } from '../../parts/dialogs.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Loaded, OpenLink, Page, PageLink, Section, Small, usePageId } from '../../parts/page.tsx';
import { PayInSandbox } from '../../parts/pay-in-sandbox.tsx';
import { assetName, CopyTextButton, fiat, StateBadge, Time } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { InvoiceFacts } from './invoice-facts.tsx';
import { Payments, Refunds, UnresolvedOfInvoice } from './invoice-lists.tsx';
import { useInvoice, useInvoiceRecords } from './invoice-records.ts';
import { refundable } from './refund-amount.ts';
import { RefundButton } from './refund-button.tsx';
import { type TimelineEntry, timelineOf } from './timeline.ts';

export function RoutePage() {
  const query = useInvoice(usePageId());
  const { data: invoice } = query;
  return (
    <Page
      title={invoice ? (invoice.external_id ?? fiat(invoice.amount_fiat, invoice.currency)) : 'Invoice'}
      back={{ to: '/invoices', label: 'Invoices' }}
      mark={invoice && <StateBadge state={invoice.status} />}
      actions={invoice && <Actions invoice={invoice} />}
    >
      <Loaded query={query}>{(found) => <Details invoice={found} />}</Loaded>
    </Page>
  );
}

function Actions({ invoice }: { invoice: Invoice }) {
  const { unresolved = [], refunds } = useInvoiceRecords(invoice).records;
  const mayRefund = useMay('refunds:write');
  const accepted = unresolved.filter(
    ({ status, asset }) => status === 'accepted' && asset.symbol === invoice.asset?.symbol,
  );
  return (
    <>
      <CopyTextButton text={invoice.url} label="Copy link" />
      <OpenLink href={invoice.url}>Payment page</OpenLink>
      {mayRefund && isPayable(invoice) && (
        <RefundButton
          invoice={invoice}
          refundable={refundable(invoice, sum(accepted.map(({ amount }) => amount)), refunds)}
        />
      )}
      <CancelInvoice invoice={invoice} />
    </>
  );
}

function Details({ invoice }: { invoice: Invoice }) {
  const { records, isCut, errors } = useInvoiceRecords(invoice);
  return (
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
          <Failure error={errors[0]} />
          <Entries entries={timelineOf(records, assetName)} />
          {isCut && (
            <Small>
              Much happened in the account in this time. Some events of the invoice may be missing here:{' '}
              <PageLink to="/events" inherit>
                the event log
              </PageLink>{' '}
              has all.
            </Small>
          )}
        </Section>
      </Grid.Col>
    </Grid>
  );
}

const Entries = ({ entries }: { entries: readonly TimelineEntry[] }) => (
  <Timeline active={entries.length} bulletSize={12} lineWidth={2}>
    {entries.map(({ at, title, detail, source, tone, to }, place) => (
      <Timeline.Item
        key={place}
        color={tone}
        title={to === undefined ? <Text size="sm">{title}</Text> : <PageLink to={to}>{title}</PageLink>}
      >
        {detail !== undefined && <Text size="xs">{detail}</Text>}
        <Small>
          <Time at={at} /> · {source}
        </Small>
      </Timeline.Item>
    ))}
  </Timeline>
);

/** Whether the API may cancel it: it decides when it is asked. */
const isCancelable = ({ status, cancelled_at, expires_at }: Invoice): boolean =>
  cancelled_at === null && (status === 'pending' || (status === 'partially_paid' && expires_at === null));

function CancelInvoice({ invoice }: { invoice: Invoice }) {
  const mayCancel = useMay('invoices:write');
  if (!mayCancel || !isCancelable(invoice)) return null;
  return (
    <ConfirmButton
      label="Cancel invoice"
      title="Cancel the invoice"
      act={() => quittance.invoices.cancel(invoice.id)}
      onDone={() => readAgain('invoices')}
    >
      {invoice.status === 'pending'
        ? 'It cannot be paid any more. A payment that comes all the same waits for your decision among the unresolved funds.'
        : 'Nothing more can be paid. What was paid waits for your decision among the unresolved funds.'}
    </ConfirmButton>
  );
}
