import { Button, Group, Paper, Stack, TextInput } from '@mantine/core';
import { type GetInputPropsReturnType, useForm } from '@mantine/form';
import type { PayoutQuote } from '@quittance/client';
import { useMutation } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { useBalances } from '../../parts/account-data.ts';
import { addressInput } from '../../parts/address.tsx';
import { Amount } from '../../parts/amount.tsx';
import { AssetSelect } from '../../parts/asset-select.tsx';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { useListSearch } from '../../parts/list-search.ts';
import { networkName } from '../../parts/networks.ts';
import { BookSelect } from './book-select.tsx';

/** `amount` is a decimal text, or `max`. */
export type PayoutValues = { asset: string; amount: string; address: string; external_id: string };
type Asset = Parameters<typeof quittance.payouts.create>[0]['asset'];

type Props = {
  values: PayoutValues | undefined;
  onQuote(values: PayoutValues, quote: PayoutQuote): void;
};

/** The quote of the API checks asset, amount and address before anything is asked for. */
export const quoteOf = ({ asset, amount, address }: PayoutValues, signal?: AbortSignal) =>
  quittance.payouts.quote({ asset: asset as Asset, amount, address }, { signal });

export function PayoutForm({ values, onQuote }: Props) {
  const [search] = useListSearch();
  const form = useForm<PayoutValues>({
    initialValues: values ?? {
      asset: search['asset'] ?? '',
      amount: '',
      address: search['address'] ?? '',
      external_id: '',
    },
    validate: {
      asset: (asset) => (asset === '' ? 'Choose an asset.' : null),
      amount: (amount) =>
        amount.trim() === 'max' || /^\d+(?:\.\d+)?$/.test(amount.trim())
          ? null
          : 'Give a number such as 0.5, with a point before its decimals.',
      address: (address) => (address.trim() === '' ? 'Give the address of the recipient.' : null),
    },
  });
  const quote = useMutation({
    mutationFn: (given: PayoutValues) => quoteOf(given),
    onSuccess: (found, given) => onQuote(given, found),
    onError: (error) => form.setErrors(errorsOf(error)),
  });
  const { asset } = form.values;
  const isMax = form.values.amount === 'max';
  return (
    <Paper withBorder p="md" maw={640}>
      <form
        onSubmit={form.onSubmit((given) =>
          quote.mutate({
            asset: given.asset,
            amount: given.amount.trim(),
            address: given.address.trim(),
            external_id: given.external_id.trim(),
          }),
        )}
      >
        <Stack>
          <AssetSelect
            required
            description={asset !== '' && `On the network ${networkName(asset)}`}
            {...form.getInputProps('asset')}
          />
          <AmountField
            asset={asset}
            isMax={isMax}
            onMax={(takesAll) => form.setFieldValue('amount', takesAll ? 'max' : '')}
            field={form.getInputProps('amount')}
          />
          <BookSelect
            asset={asset}
            address={form.values.address}
            onChoose={(address) => form.setFieldValue('address', address)}
          />
          <TextInput
            label="Address"
            description="A payout cannot be undone."
            required
            autoComplete="off"
            spellCheck={false}
            maxLength={255}
            styles={addressInput}
            {...form.getInputProps('address')}
          />
          <TextInput
            label="Your reference"
            description="Optional: what your own books call it."
            maxLength={255}
            {...form.getInputProps('external_id')}
          />
          {quote.error !== null && Object.keys(errorsOf(quote.error)).length === 0 && (
            <Failure error={quote.error} />
          )}
          <Group justify="flex-end">
            <Button type="submit" loading={quote.isPending}>
              Check the payout
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}

type AmountProps = {
  asset: string;
  isMax: boolean;
  onMax(takesAll: boolean): void;
  field: GetInputPropsReturnType;
};

function AmountField({ asset, isMax, onMax, field }: AmountProps) {
  const { data: balances } = useBalances();
  const balance = balances?.find((one) => one.asset.symbol === asset);
  return (
    <TextInput
      label="Amount"
      description={
        balance && (
          <>
            What the recipient gets. The balance is <Amount value={balance.balance} asset={asset} />, and the
            network fee <Amount value={balance.asset.network_fee} asset={asset} />.
          </>
        )
      }
      required
      inputMode="decimal"
      autoComplete="off"
      {...field}
      {...(isMax && { value: 'All that the balance has, after the fee', readOnly: true })}
      rightSectionWidth={76}
      rightSection={
        <Button
          size="compact-sm"
          variant={isMax ? 'filled' : 'default'}
          aria-pressed={isMax}
          onClick={() => onMax(!isMax)}
        >
          Max
        </Button>
      }
    />
  );
}
