import { Button, Paper, TextInput } from '@mantine/core';
import { type GetInputPropsReturnType, isNotEmpty, matches } from '@mantine/form';
import type { PayoutQuote } from '@quittance/client';
import { quittance } from '../../client.ts';
import { useBalances } from '../../parts/account-data.ts';
import { AssetSelect } from '../../parts/asset-select.tsx';
import { useListSearch } from '../../parts/list-search.ts';
import { networkName } from '../../parts/networks.ts';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { AddressInput, Amount } from '../../parts/values.tsx';
import { BookSelect } from './book-select.tsx';

/** `amount` is a decimal text, or `max`. */
export type PayoutValues = { asset: string; amount: string; address: string; external_id: string };
type Asset = Parameters<typeof quittance.payouts.create>[0]['asset'];

type Quoted = { values: PayoutValues; quote: PayoutQuote };
type Props = { values: PayoutValues | undefined; onQuote(quoted: Quoted): void };

/** The quote of the API checks asset, amount and address before anything is asked for. */
export const quoteOf = ({ asset, amount, address }: PayoutValues, signal?: AbortSignal) =>
  quittance.payouts.quote({ asset: asset as Asset, amount, address }, { signal });

export function PayoutForm({ values: before, onQuote }: Props) {
  const [{ asset: wanted = '', address: recipient = '' }] = useListSearch();
  const sent = useSentForm({
    initialValues: before ?? { asset: wanted, amount: '', address: recipient, external_id: '' },
    validate: {
      asset: isNotEmpty('Choose an asset.'),
      amount: matches(
        /^\s*(?:max|\d+(?:\.\d+)?)\s*$/,
        'Give a number such as 0.5, with a point before its decimals.',
      ),
      address: isNotEmpty('Give the address of the recipient.'),
    },
    send: async ({ asset, amount, address, external_id: reference }) => {
      const values = {
        asset,
        amount: amount.trim(),
        address: address.trim(),
        external_id: reference.trim(),
      };
      return { values, quote: await quoteOf(values) };
    },
    onDone: onQuote,
  });
  const { values, setFieldValue } = sent.form;
  return (
    <Paper withBorder p="md" maw={640}>
      <SendForm sent={sent} button="Check the payout" align="flex-end">
        <AssetSelect
          required
          description={values.asset !== '' && `On the network ${networkName(values.asset)}`}
          {...sent.field('asset')}
        />
        <AmountField
          asset={values.asset}
          isMax={values.amount === 'max'}
          onMax={(takesAll) => setFieldValue('amount', takesAll ? 'max' : '')}
          field={sent.field('amount')}
        />
        <BookSelect
          asset={values.asset}
          address={values.address}
          onChoose={(address) => setFieldValue('address', address)}
        />
        <AddressInput description="A payout cannot be undone." {...sent.field('address')} />
        <TextInput
          label="Your reference"
          description="Optional: what your own books call it."
          maxLength={255}
          {...sent.field('external_id')}
        />
      </SendForm>
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
