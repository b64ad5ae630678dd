import { NumberInput, Radio, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { networkName } from './networks.ts';
import type { WhereTo } from './where-to.ts';

type Props = {
  form: Pick<UseFormReturnType<WhereTo & object>, 'getInputProps' | 'values'>;
  /** The symbol of what is paid back. */
  asset: string;
};

/** Where something is paid back to. */
export const WhereToFields = ({ form, asset }: Props) => (
  <>
    <Radio.Group label="Where to" {...form.getInputProps('to')}>
      <Stack gap="xs" mt="xs">
        <Radio value="link" label="A claim link, on which your customer gives the address" />
        <Radio value="address" label="An address that your customer has told you" />
      </Stack>
    </Radio.Group>
    {form.values.to === 'address' ? (
      <TextInput
        label={`Address on ${networkName(asset)}`}
        description="Not the one that has paid: it may belong to an exchange, which cannot assign the money back."
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('address')}
      />
    ) : (
      <NumberInput
        label="Days until the link ends"
        min={1}
        max={90}
        allowDecimal={false}
        w={200}
        {...form.getInputProps('expires_in_days')}
      />
    )}
  </>
);
