import { Button, Grid, NumberInput, Stack } from '@mantine/core';
import type { PaymentLink } from '@quittance/client';
import { IconPrinter } from '@tabler/icons-react';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/dialogs.tsx';
import { Facts, Loaded, Page, PageLink, Section, usePageId } from '../../parts/page.tsx';
import { ShareLink } from '../../parts/qr-code.tsx';
import { useLive } from '../../parts/reading.ts';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { Copyable, StateBadge, Time } from '../../parts/values.tsx';
import { wholeNumber } from '../../parts/whole-number.ts';
import { readAgain } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { RecentInvoices } from '../invoices/recent-invoices.tsx';
import { assetsOf, priceOf } from './link-price.tsx';
import { QrSheet } from './qr-sheet.tsx';

export function RoutePage() {
  const id = usePageId();
  const query = useLive(['payment-links', id], (options) => quittance.paymentLinks.retrieve(id, options));
  const link = query.data;
  return (
    <Page
      title={link?.description ?? 'Payment link'}
      back={{ to: '/payment-links', label: 'Payment links' }}
      mark={link && <StateBadge state={link.status} />}
      actions={link?.status === 'active' && <Actions link={link} />}
    >
      <Loaded query={query}>{(found) => <Details link={found} />}</Loaded>
    </Page>
  );
}

function Actions({ link }: { link: PaymentLink }) {
  const mayChange = useMay('invoices:write');
  return (
    <>
      <Button variant="default" leftSection={<IconPrinter size={16} />} onClick={() => window.print()}>
        Print
      </Button>
      {mayChange && (
        <ConfirmButton
          label="Deactivate"
          title="Deactivate the payment link"
          act={() => quittance.paymentLinks.deactivate(link.id)}
          onDone={() => readAgain('payment-links')}
        >
          Its page takes no payments any more, and it cannot be activated again. What was begun can still be
          paid.
        </ConfirmButton>
      )}
    </>
  );
}

function Details({ link }: { link: PaymentLink }) {
  const { valid_until: end, deactivated_at: deactivated } = link;
  const metadata = Object.entries(link.metadata).map(([name, value]) => [`Metadata: ${name}`, value]);
  const mayChange = useMay('invoices:write');
  return (
    <Stack>
      {link.status === 'active' && (
        <Section title="To share">
          <ShareLink url={link.url} label="payment link" />
          <QrSheet link={link} />
        </Section>
      )}
      <Grid>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Section title="Payment link">
            <Facts
              facts={{
                Price: priceOf(link),
                Assets: assetsOf(link, 'the payer chooses among all'),
                'Minutes to pay': link.expires_in ?? 'as the settings of invoices say',
                Ends: end === null ? 'never' : <Time at={end} />,
                Created: <Time at={link.created_at} />,
                Deactivated: deactivated && <Time at={deactivated} />,
                Id: <Copyable text={link.id} label="Copy the id" />,
                'Open invoices': link.open_invoices,
                ...Object.fromEntries(metadata),
              }}
            />
            {mayChange && link.status === 'active' && <OpenLimit link={link} key={link.max_open} />}
          </Section>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Section
            title="Invoices"
            actions={
              <PageLink to="/invoices" search={{ payment_link_id: link.id }}>
                All of this link
              </PageLink>
            }
          >
            <RecentInvoices query={{ payment_link_id: link.id }} none="Nobody has begun a payment yet." />
          </Section>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

/** How many invoices may be open: what keeps a link that is known to many from creating invoices without an end. */
function OpenLimit({ link: { id, max_open: limit } }: { link: PaymentLink }) {
  const sent = useSentForm({
    initialValues: { max_open: limit as number | string },
    send: ({ max_open }) => quittance.paymentLinks.update(id, { max_open: wholeNumber(max_open) }),
    changes: ['payment-links'],
  });
  return (
    <SendForm sent={sent} button="Change" align="flex-start" isDisabled={!sent.form.isDirty()}>
      <NumberInput
        label="Open invoices, at most"
        min={1}
        max={10_000}
        allowDecimal={false}
        required
        w={240}
        {...sent.field('max_open')}
      />
    </SendForm>
  );
}
