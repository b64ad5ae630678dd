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
import type { UseFormReturnType } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import type { PayoutPolicy, PutPayoutPolicy } from '@quittance/client';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { assetName } from '../../parts/values.tsx';
import { queries } from '../../queries.ts';
import { type LimitValues, limitsOf, type PolicyValues, policyFrom } from './policy-values.ts';

type Form = UseFormReturnType<PolicyValues>;

/** All of the policy: what is not given has no limit. */
export function PolicyForm({ policy, onDone }: { policy: PayoutPolicy; onDone(): void }) {
  // What waits is what somebody has asked for last.
  const { allow_list, delay_hours, limits } = policy.next ?? policy;
  const sent = useSentForm<PolicyValues, PayoutPolicy>({
    initialValues: {
      allow_list,
      delay_hours: policy.updated_at === null ? 24 : delay_hours,
      limits: limits.map(limitsOf),
    },
    send: (values) => quittance.payoutPolicy.put(policyFrom(values) as PutPayoutPolicy),
    onDone: (stored) => {
      queries.setQueryData(['payout-policy'], stored);
      notifications.show({
        message:
          stored.next === null
            ? 'The policy is in force.'
            : 'What is stricter is in force. What allows more waits for the delay.',
      });
      onDone();
    },
  });
  const { form, field, isPending } = sent;
  return (
    <Stack maw={820}>
      <Text size="sm">
        What the new policy forbids is forbidden at once. What it allows more than the one before is allowed
        after the delay, the longer of the two.
        {policy.next !== null && ' The fields show the policy that waits: saving replaces it.'}
      </Text>
      <SendForm
        sent={sent}
        button="Save the policy"
        align="flex-end"
        other={
          <Button variant="default" onClick={onDone} disabled={isPending}>
            Back
          </Button>
        }
      >
        <Paper withBorder p="md">
          <Stack>
            <Switch
              label="Payouts go to the address book alone"
              description="Refunds and returned funds go to customers: anywhere."
              {...field('allow_list', { type: 'checkbox' })}
            />
            <NumberInput
              label="Delay in hours"
              description="How long a new address, and a change that allows more, wait: 0 to 720."
              min={0}
              max={720}
              allowDecimal={false}
              required
              maw={320}
              {...field('delay_hours')}
            />
          </Stack>
        </Paper>
        {form.values.limits.map((limit, place) => (
          <LimitFields key={limit.asset} form={form} place={place} limit={limit} />
        ))}
        <AddLimit form={form} />
      </SendForm>
    </Stack>
  );
}

function LimitFields({ form, place, limit }: { form: Form; place: number; limit: LimitValues }) {
  const name = assetName(limit.asset);
  const amounts = {
    per_payout: ['One payout', `At most so much ${name}.`],
    per_24h: ['In 24 hours', 'All payouts together.'],
    approval_above: ['Approval above', '0: each payout needs one.'],
  } as const;
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
        {Object.entries(amounts).map(([field, [label, description]]) => (
          <TextInput
            key={field}
            label={label}
            description={description}
            placeholder="no limit"
            inputMode="decimal"
            autoComplete="off"
            style={{ flex: '1 1 200px' }}
            {...form.getInputProps(`limits.${place}.${field}`)}
          />
        ))}
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
