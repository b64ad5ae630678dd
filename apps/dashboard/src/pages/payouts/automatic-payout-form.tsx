import { Radio, Stack, Switch, TextInput } from '@mantine/core';
import { isNotEmpty } from '@mantine/form';
import type { AutomaticPayout } from '@quittance/client';
import { quittance } from '../../client.ts';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { AddressInput, assetName } from '../../parts/values.tsx';
import { BookSelect } from './book-select.tsx';

type Props = { symbol: string; rule: AutomaticPayout | undefined; onDone(): void };

/** Creates or replaces the rule of an asset. */
export function AutomaticPayoutForm({ symbol, rule, onDone }: Props) {
  const sent = useSentForm({
    initialValues: {
      address: rule?.address ?? '',
      schedule: rule?.schedule ?? 'daily',
      threshold: rule?.threshold ?? '',
      enabled: rule?.enabled ?? true,
    },
    validate: {
      address: isNotEmpty('Give the address of the recipient.'),
      threshold: (threshold, { schedule }) =>
        schedule === 'threshold' && threshold.trim() === '' ? 'Give an amount.' : null,
    },
    send: ({ address, threshold, ...rest }) =>
      quittance.automaticPayouts.put(symbol, {
        ...rest,
        address: address.trim(),
        threshold: threshold.trim() || null,
      }),
    onDone,
    changes: ['automatic-payouts'],
  });
  const { values, setFieldValue } = sent.form;
  const isThreshold = values.schedule === 'threshold';
  return (
    <SendForm sent={sent} button="Save the rule">
      <BookSelect
        asset={symbol}
        address={values.address}
        onChoose={(address) => setFieldValue('address', address)}
      />
      <AddressInput {...sent.field('address')} />
      <Radio.Group label="When" {...sent.field('schedule')}>
        <Stack gap="xs" mt={6}>
          <Radio value="daily" label="Daily" description="Once a day, after midnight UTC." />
          <Radio
            value="threshold"
            label="From an amount on"
            description="Whenever the balance covers the amount and the network fee."
          />
        </Stack>
      </Radio.Group>
      <TextInput
        label={`${isThreshold ? 'From' : 'At least'}, in ${assetName(symbol)}`}
        description={isThreshold ? undefined : 'Optional: a smaller balance waits for the next day.'}
        required={isThreshold}
        inputMode="decimal"
        autoComplete="off"
        {...sent.field('threshold')}
      />
      <Switch
        label="Enabled"
        description="Disabled, the rule is kept and pays nothing."
        {...sent.field('enabled', { type: 'checkbox' })}
      />
    </SendForm>
  );
}
