import { Button, Fieldset, Group, NumberInput, Paper, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { CreateInvoice, Invoice } from '@quittance/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { errorsOf } from '../../parts/form-errors.ts';
import { Page } from '../../parts/page.tsx';
import { AmountFields, AssetFields } from '../../parts/price-fields.tsx';
import { SendFailure, useSendOnce } from '../../parts/send-once.tsx';
import { useMay } from '../../session/session.ts';
import { CreatedInvoice } from './created-invoice.tsx';
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
  const client = useQueryClient();
  const { data: settings } = useQuery({
    queryKey: ['invoice-settings'],
    queryFn: ({ signal }) => quittance.invoiceSettings.retrieve({ signal }),
    enabled: useMay('settings:read'),
  });
  const form = useForm({ initialValues: nothing, validate: problemsOf });
  const { send, isPending, error, isUnknown } = useSendOnce(
    (invoice: CreateInvoice, idempotencyKey) =>
      quittance.invoices.create(invoice, { idempotencyKey, maxRetries: 0 }),
    onCreated,
  );
  const submit = (choice: InvoiceChoice) =>
    send(invoiceOf(choice), {
      onError: (failure) => form.setErrors(errorsOf(failure)),
      onSettled: () => void client.invalidateQueries({ queryKey: ['invoices'] }),
    });
  const usualMinutes = settings?.expires_in;
  return (
    <Paper withBorder p="lg" maw={560}>
      <form onSubmit={form.onSubmit(submit)}>
        <Stack>
          <Fieldset variant="unstyled" disabled={isPending || isUnknown}>
            <Stack>
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
            </Stack>
          </Fieldset>
          <SendFailure
            error={error}
            isUnknown={isUnknown}
            what="the invoice was created"
            list={{ to: '/invoices', label: 'The list of invoices' }}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={isPending}>
              Create invoice
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}
