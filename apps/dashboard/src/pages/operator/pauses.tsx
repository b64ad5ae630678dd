import { Alert, Button, Group, Modal, Paper, Select, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { OperatedPause } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { assetName } from '../../parts/amount.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { Time } from '../../parts/time.tsx';
import { useStepUp } from '../../session/step-up.tsx';
import { FormFailure, Mark, Part } from './operator-parts.tsx';

/** Which payouts are paused, and why; pauses and resumes them. */
export function Pauses({ pauses, assets }: { pauses: readonly OperatedPause[]; assets: readonly string[] }) {
  const [isOpen, setOpen] = useState(false);
  const free = assets.filter((asset) => !pauses.some((pause) => pause.asset === asset));
  return (
    <Part
      title="Paused payouts"
      text="Nothing new is signed, and new requests are refused. What is signed already is still sent."
      actions={
        <Button variant="light" color="red" onClick={() => setOpen(true)} disabled={free.length === 0}>
          Pause payouts
        </Button>
      }
    >
      {pauses.length === 0 ? (
        <Alert color="green">Payouts of all assets run.</Alert>
      ) : (
        pauses.map((pause) => <Pause key={pause.asset} pause={pause} />)
      )}
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Pause payouts">
        <PauseForm assets={free} onDone={() => setOpen(false)} />
      </Modal>
    </Part>
  );
}

function Pause({ pause: { asset, reasons, paused_at, in_force, by_console } }: { pause: OperatedPause }) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const resume = useMutation({
    mutationFn: () => stepUp(() => quittance.operator.resumePayouts(asset)),
    onSettled: () => client.invalidateQueries({ queryKey: ['operator'] }),
  });
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Group justify="space-between">
          <Group gap="xs">
            <Text fw={600}>{assetName(asset)}</Text>
            <Mark good={false} label={in_force ? 'paused' : 'pausing, payouts has not confirmed it'} />
            <Text size="sm" c="dimmed">
              since <Time at={paused_at} />
            </Text>
          </Group>
          {by_console && (
            <Button variant="light" onClick={() => resume.mutate()} loading={resume.isPending}>
              Resume
            </Button>
          )}
        </Group>
        {reasons.map(({ invariant, what }) => (
          <Text size="sm" key={`${invariant} ${what}`} style={{ overflowWrap: 'anywhere' }}>
            {invariant}: {what}
          </Text>
        ))}
        {!by_console && (
          <Copyable text={`npx quittance payouts resume --asset ${asset}`} label="Copy the command" />
        )}
        {resume.error !== null && <Failure error={resume.error} />}
      </Stack>
    </Paper>
  );
}

function PauseForm({ assets, onDone }: { assets: readonly string[]; onDone(): void }) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const form = useForm({
    initialValues: { asset: '', reason: '' },
    validate: { asset: (asset) => (asset === '' ? 'Choose an asset.' : null) },
  });
  const pause = useMutation({
    mutationFn: ({ asset, reason }: { asset: string; reason: string }) =>
      stepUp(() => quittance.operator.pausePayouts(asset, reason)),
    onSuccess: onDone,
    onError: (error) => form.setErrors(errorsOf(error)),
    onSettled: () => client.invalidateQueries({ queryKey: ['operator'] }),
  });
  return (
    <form onSubmit={form.onSubmit((values) => pause.mutate(values))}>
      <Stack>
        <Select
          label="Asset"
          data={assets.map((asset) => ({ value: asset, label: assetName(asset) }))}
          data-autofocus
          {...form.getInputProps('asset')}
        />
        <Textarea
          label="Reason"
          description="Shown to other operators, with your id"
          required
          maxLength={300}
          autosize
          {...form.getInputProps('reason')}
        />
        <Text size="sm" c="dimmed">
          Where you doubt the gateway itself, pause with the command line: nobody ends such a pause from here.
        </Text>
        <FormFailure error={pause.error} />
        <Button type="submit" color="red" loading={pause.isPending}>
          Pause
        </Button>
      </Stack>
    </form>
  );
}
