import { Button, Radio, Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { AutomaticPayout, PutAutomaticPayout } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { addressInput } from '../../parts/address.tsx';
import { assetName } from '../../parts/amount.tsx';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { useStepUp } from '../../session/step-up.tsx';
import { BookSelect } from './book-select.tsx';

type Props = { symbol: string; rule: AutomaticPayout | undefined; onDone(): void };

/** Creates or replaces the rule of an asset. */
export function AutomaticPayoutForm({ symbol, rule, onDone }: Props) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const form = useForm({
    initialValues: {
      address: rule?.address ?? '',
      schedule: rule?.schedule ?? 'daily',
      threshold: rule?.threshold ?? '',
      enabled: rule?.enabled ?? true,
    },
    validate: {
      address: (address) => (address.trim() === '' ? 'Give the address of the recipient.' : null),
      threshold: (threshold, { schedule }) =>
        schedule === 'threshold' && threshold.trim() === '' ? 'Give an amount.' : null,
    },
  });
  const put = useMutation({
    mutationFn: (given: PutAutomaticPayout) => stepUp(() => quittance.automaticPayouts.put(symbol, given)),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['automatic-payouts'] });
      onDone();
    },
    onError: (error) => form.setErrors(errorsOf(error)),
  });
  const isThreshold = form.values.schedule === 'threshold';
  return (
    <form
      onSubmit={form.onSubmit(({ address, schedule, threshold, enabled }) =>
        put.mutate({
          address: address.trim(),
          schedule,
          threshold: threshold.trim() === '' ? null : threshold.trim(),
          enabled,
        }),
      )}
    >
      <Stack>
        <BookSelect
          asset={symbol}
          address={form.values.address}
          onChoose={(address) => form.setFieldValue('address', address)}
        />
        <TextInput
          label="Address"
          required
          autoComplete="off"
          spellCheck={false}
          maxLength={255}
          styles={addressInput}
          {...form.getInputProps('address')}
        />
        <Radio.Group label="When" {...form.getInputProps('schedule')}>
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
          {...form.getInputProps('threshold')}
        />
        <Switch
          label="Enabled"
          description="Disabled, the rule is kept and pays nothing."
          {...form.getInputProps('enabled', { type: 'checkbox' })}
        />
        {put.error !== null && Object.keys(errorsOf(put.error)).length === 0 && <Failure error={put.error} />}
        <Button type="submit" loading={put.isPending}>
          Save the rule
        </Button>
      </Stack>
    </form>
  );
}
