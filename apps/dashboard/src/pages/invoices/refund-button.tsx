import { Radio, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { CreatedRefund, PayableInvoice } from '@quittance/client';
import { quittance } from '../../client.ts';
import { type PaidBack, TwoStepButton } from '../../parts/two-steps.tsx';
import { Amount, assetName, Fiat } from '../../parts/values.tsx';
import { WhereToFields } from '../../parts/where-to-fields.tsx';
import { type Refundable, worthOf } from './refund-amount.ts';
import { RefundConfirmation } from './refund-confirmation.tsx';
import { firstRefund, problemsOf, type RefundChoice, refundOf } from './refund-form.ts';

type Props = { invoice: PayableInvoice; refundable: Refundable };

/** Refunds an invoice: what and where to, then the exact amounts, then what became of it. */
export const RefundButton = ({ invoice, refundable }: Props) => (
  <TwoStepButton
    label="Refund"
    title="Refund"
    doneTitle="The refund was created"
    what="the refund was created"
    list={{ to: '/refunds', label: 'The list of refunds' }}
    isOffered={refundable.left !== '0'}
    first={firstRefund(refundable)}
    validate={(values) => problemsOf(values, invoice, refundable)}
    requestOf={refundOf}
    send={(refund, idempotencyKey) =>
      quittance.refunds.create(invoice.id, refund, { idempotencyKey, maxRetries: 0 })
    }
    changes={['invoices', 'refunds', 'payouts', 'balances', 'balance-transactions']}
    fields={(form) => <RefundFields form={form} invoice={invoice} refundable={refundable} />}
    confirmation={(refund) => ({
      shown: <RefundConfirmation invoice={invoice} refundable={refundable} refund={refund} />,
      button: 'address' in refund ? 'Send the refund' : 'Create the claim link',
    })}
    paidBack={paidBack}
  />
);

const paidBack = ({ claim_url: link, amount, asset, expires_at: until }: CreatedRefund): PaidBack => ({
  link: until === null ? undefined : link,
  until,
  intro: (
    <>
      The refund is of <Amount value={amount} asset={asset.symbol} />.
    </>
  ),
  sent: 'A payout is sending it. The timeline of the invoice shows how far it is.',
  lost: 'The claim link cannot be shown. Cancel this refund and create another one.',
  secret: 'The link is shown this once. Whoever has it can claim the refund: send it to your customer alone.',
});

type FieldsProps = Props & { form: UseFormReturnType<RefundChoice> };

/** How much, at which rate and where to. */
function RefundFields({ form, invoice, refundable }: FieldsProps) {
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
