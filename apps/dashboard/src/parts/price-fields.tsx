import { Group, MultiSelect, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useAssets } from './account-data.ts';
import { AssetSelect } from './asset-select.tsx';
import { currencies } from './currencies.ts';
import { assetName } from './values.tsx';

type Amount = { amount: string; currency: string };
type Choice = { chooses: 'payer' | 'merchant'; asset: string | null; assets: string[] };

// The fields of a form are those of the whole form: only some of them are shown here.
type FormOf<Values> = Pick<UseFormReturnType<Values>, 'getInputProps' | 'values'>;

type AmountProps = {
  form: FormOf<Amount & object>;
  label: string;
  isOptional?: boolean;
  name?: string;
  usual: string | undefined;
};

/** An amount and its currency. `usual` is the currency of the account. */
export const AmountFields = ({ form, label, isOptional, name = 'amount', usual }: AmountProps) => (
  <Group gap="xs" align="flex-start" wrap="nowrap" grow preventGrowOverflow={false}>
    <TextInput
      label={label}
      inputMode="decimal"
      autoComplete="off"
      withAsterisk={isOptional !== true}
      {...form.getInputProps(name)}
    />
    <Select
      label="Currency"
      data={currencies}
      placeholder={usual}
      searchable
      clearable={usual !== undefined}
      w={130}
      flex="none"
      {...form.getInputProps('currency')}
      value={form.values.currency === '' ? null : form.values.currency}
    />
  </Group>
);

/** Who chooses the asset, and which or among which. */
export function AssetFields({ form }: { form: FormOf<Choice & object> }) {
  const { data: assets = [] } = useAssets();
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500} component="div" id="who-chooses">
        Asset
      </Text>
      <SegmentedControl
        aria-labelledby="who-chooses"
        data={[
          { value: 'payer', label: 'The payer chooses' },
          { value: 'merchant', label: 'You choose' },
        ]}
        {...form.getInputProps('chooses')}
      />
      {form.values.chooses === 'merchant' ? (
        <AssetSelect label="Which" placeholder="Choose one" {...form.getInputProps('asset')} />
      ) : (
        <MultiSelect
          label="Among which"
          placeholder={form.values.assets.length === 0 ? 'All assets' : undefined}
          data={assets.map(({ symbol }) => ({ value: symbol, label: assetName(symbol) }))}
          clearable
          {...form.getInputProps('assets')}
        />
      )}
    </Stack>
  );
}
