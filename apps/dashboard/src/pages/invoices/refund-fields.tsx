import { Radio, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { PayableInvoice } from '@quittance/client';
import { Amount, assetName, Fiat } from '../../parts/amount.tsx';
import { WhereToFields } from '../../parts/where-to-fields.tsx';
import { type Refundable, worthOf } from './refund-amount.ts';
import type { RefundChoice } from './refund-form.ts';

type Props = { form: UseFormReturnType<RefundChoice>; invoice: PayableInvoice; refundable: Refundable };

/** How much, at which rate and where to. */
export function RefundFields({ form, invoice, refundable }: Props) {
  const { symbol } = invoice.asset;
  const { currency } = invoice;
  const worth = (amount: string) => (
    <>
      <Amount value={amount} asset={symbol} /> (<Fiat value={worthOf(amount, invoice)} currency={currency} />{' '}
      at the rate of the invoice)
    </>
  );
  return (
    <Stack>
      <Text size="sm">Left to refund: {worth(refundable.left)}</Text>
      <Radio.Group label="How much" {...form.getInputProps('kind')}>
        <Stack gap="xs" mt="xs">
          <Radio value="all" label="All that is left" />
          {refundable.surplus !== '0' && (
            <Radio value="surplus" label={<>What was paid more than due: {worth(refundable.surplus)}</>} />
          )}
          <Radio value="other" label={`Another amount in ${currency}`} />
        </Stack>
      </Radio.Group>
      {form.values.kind === 'other' && (
        <TextInput
          label={`Amount in ${currency}`}
          inputMode="decimal"
          autoFocus
          {...form.getInputProps('amount')}
        />
      )}
      <Radio.Group label="At which rate" {...form.getInputProps('rate')}>
        <Stack gap="xs" mt="xs">
          <Radio
            value="then"
            label={`The rate of the invoice: the same ${assetName(symbol)} that was paid`}
          />
          <Radio value="now" label={`The rate of now: as much as is worth the same in ${currency} today`} />
        </Stack>
      </Radio.Group>
      <WhereToFields form={form} asset={symbol} />
      <TextInput label="Your reference (optional)" maxLength={255} {...form.getInputProps('external_id')} />
    </Stack>
  );
}
