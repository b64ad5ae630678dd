import {
  ActionIcon,
  Button,
  Group,
  NumberInput,
  Paper,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import type { PayoutPolicy, PutPayoutPolicy } from '@quittance/client';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { assetName } from '../../parts/amount.tsx';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { useStepUp } from '../../session/step-up.tsx';
import { type LimitValues, limitsOf, type PolicyValues, policyFrom } from './policy-values.ts';

type Form = UseFormReturnType<PolicyValues>;

/** All of the policy: what is not given has no limit. */
export function PolicyForm({ policy, onDone }: { policy: PayoutPolicy; onDone(): void }) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  // What waits is what somebody has asked for last.
  const { allow_list, delay_hours, limits } = policy.next ?? policy;
  const form = useForm<PolicyValues>({
    initialValues: {
      allow_list,
      delay_hours: policy.updated_at === null ? 24 : delay_hours,
      limits: limits.map(limitsOf),
    },
  });
  const put = useMutation({
    mutationFn: (values: PolicyValues) =>
      stepUp(() => quittance.payoutPolicy.put(policyFrom(values) as PutPayoutPolicy)),
    onSuccess: (stored) => {
      client.setQueryData(['payout-policy'], stored);
      notifications.show({
        message:
          stored.next === null
            ? 'The policy is in force.'
            : 'What is stricter is in force. What allows more waits for the delay.',
      });
      onDone();
    },
    onError: (error) => form.setErrors(errorsOf(error)),
  });
  return (
    <form onSubmit={form.onSubmit((values) => put.mutate(values))}>
      <Stack maw={820}>
        <Text size="sm">
          What the new policy forbids is forbidden at once. What it allows more than the one before is allowed
          after the delay, the longer of the two.
          {policy.next !== null && ' The fields show the policy that waits: saving replaces it.'}
        </Text>
        <Paper withBorder p="md">
          <Stack>
            <Switch
              label="Payouts go to the address book alone"
              description="Refunds and returned funds go to customers: anywhere."
              {...form.getInputProps('allow_list', { type: 'checkbox' })}
            />
            <NumberInput
              label="Delay in hours"
              description="How long a new address, and a change that allows more, wait: 0 to 720."
              min={0}
              max={720}
              allowDecimal={false}
              required
              maw={320}
              {...form.getInputProps('delay_hours')}
            />
          </Stack>
        </Paper>
        {form.values.limits.map((limit, place) => (
          <LimitFields key={limit.asset} form={form} place={place} limit={limit} />
        ))}
        <AddLimit form={form} />
        {put.error !== null && Object.keys(errorsOf(put.error)).length === 0 && <Failure error={put.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone} disabled={put.isPending}>
            Back
          </Button>
          <Button type="submit" loading={put.isPending}>
            Save the policy
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function LimitFields({ form, place, limit }: { form: Form; place: number; limit: LimitValues }) {
  const name = assetName(limit.asset);
  const amount = (field: 'per_payout' | 'per_24h' | 'approval_above', label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      placeholder="no limit"
      inputMode="decimal"
      autoComplete="off"
      style={{ flex: '1 1 200px' }}
      {...form.getInputProps(`limits.${place}.${field}`)}
    />
  );
  return (
    <Paper withBorder p="md" component="fieldset" m={0}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {name}
        </Title>
        <ActionIcon
          variant="subtle"
          color="red"
          aria-label={`Remove the limits of ${name}`}
          onClick={() => form.removeListItem('limits', place)}
        >
          <IconTrash size={18} />
        </ActionIcon>
      </Group>
      <Group align="flex-start">
        {amount('per_payout', 'One payout', `At most so much ${name}.`)}
        {amount('per_24h', 'In 24 hours', 'All payouts together.')}
        {amount('approval_above', 'Approval above', '0: each payout needs one.')}
        <Select
          label="Approvals"
          description="Of others than the maker."
          data={['1', '2']}
          allowDeselect={false}
          disabled={limit.approval_above.trim() === ''}
          style={{ flex: '1 1 120px' }}
          {...form.getInputProps(`limits.${place}.approvals`)}
        />
      </Group>
      {form.errors[`limits.${place}.asset`] !== undefined && (
        <Text size="sm" c="red">
          {form.errors[`limits.${place}.asset`]}
        </Text>
      )}
    </Paper>
  );
}

function AddLimit({ form }: { form: Form }) {
  const { data: assets = [] } = useAssets();
  const left = assets.filter(({ symbol }) => form.values.limits.every(({ asset }) => asset !== symbol));
  if (left.length === 0) return null;
  return (
    <Select
      label="Limits for another asset"
      placeholder="Choose an asset"
      leftSection={<IconPlus size={16} />}
      data={left.map(({ symbol }) => ({ value: symbol, label: assetName(symbol) }))}
      value={null}
      onChange={(asset) => {
        if (asset !== null) form.insertListItem('limits', limitsOf({ asset }));
      }}
      maw={320}
    />
  );
}
