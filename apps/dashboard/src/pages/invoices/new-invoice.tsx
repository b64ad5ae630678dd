import { Button, Group, NumberInput, Paper, Stack, Text, Textarea, TextInput } from '@mantine/core';
import type { Invoice } from '@quittance/client';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { useInvoiceSettings } from '../../parts/account-data.ts';
import { ButtonLink, Page } from '../../parts/page.tsx';
import { PayInSandbox } from '../../parts/pay-in-sandbox.tsx';
import { AmountFields, AssetFields } from '../../parts/price-fields.tsx';
import { ShareLink } from '../../parts/qr-code.tsx';
import { SendOnceForm } from '../../parts/send-once-form.tsx';
import { Amount, Fiat, Time } from '../../parts/values.tsx';
import { type InvoiceChoice, invoiceOf, problemsOf } from './invoice-form.ts';

const nothing: InvoiceChoice = {
  amount: '',
  currency: '',
  chooses: 'payer',
  asset: null,
  assets: [],
  description: '',
  external_id: '',
  expires_in: '',
};

export function RoutePage() {
  const [created, setCreated] = useState<Invoice>();
  return (
    <Page
      title={created === undefined ? 'New invoice' : 'The invoice was created'}
      back={{ to: '/invoices', label: 'Invoices' }}
    >
      {created === undefined ? (
        <InvoiceForm onCreated={setCreated} />
      ) : (
        <CreatedInvoice invoice={created} onAnother={() => setCreated(undefined)} />
      )}
    </Page>
  );
}

function InvoiceForm({ onCreated }: { onCreated(invoice: Invoice): void }) {
  const { data: settings } = useInvoiceSettings();
  const usualMinutes = settings?.expires_in;
  return (
    <Paper withBorder p="lg" maw={560}>
      <SendOnceForm
        initialValues={nothing}
        validate={problemsOf}
        requestOf={invoiceOf}
        send={(invoice, options) => quittance.invoices.create(invoice, options)}
        onDone={onCreated}
        changes={['invoices']}
        button="Create invoice"
        what="the invoice was created"
        list={{ to: '/invoices', label: 'The list of invoices' }}
      >
        {(form) => (
          <>
            <AmountFields form={form} label="Price" usual={settings?.currency} />
            <AssetFields form={form} />
            <Textarea
              label="Description"
              description="Your customer sees it on the payment page."
              maxLength={500}
              autosize
              minRows={2}
              {...form.getInputProps('description')}
            />
            <TextInput
              label="Your reference"
              description="Such as the number of the order. Your customer does not see it."
              maxLength={255}
              {...form.getInputProps('external_id')}
            />
            <NumberInput
              label="Minutes to pay"
              description={
                usualMinutes === null
                  ? 'Left empty it never expires, as your settings say.'
                  : 'The rate is locked for this time.'
              }
              placeholder={usualMinutes === null ? 'never expires' : String(usualMinutes ?? 60)}
              min={1}
              max={120}
              allowDecimal={false}
              {...form.getInputProps('expires_in')}
            />
          </>
        )}
      </SendOnceForm>
    </Paper>
  );
}

type CreatedProps = { invoice: Invoice; onAnother(): void };

/** What to do with a new invoice: send its link to the customer, or let the code be scanned. */
const CreatedInvoice = ({ invoice, onAnother }: CreatedProps) => (
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
        <ButtonLink to={`/invoices/${invoice.id}`}>Show the invoice</ButtonLink>
        <Button variant="subtle" onClick={onAnother}>
          Another invoice
        </Button>
      </Group>
    </Stack>
  </Paper>
);
