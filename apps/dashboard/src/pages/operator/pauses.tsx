import { Alert, Button, Group, Paper, Select, Stack, Text, Textarea } from '@mantine/core';
import { isNotEmpty } from '@mantine/form';
import type { OperatedPause } from '@quittance/client';
import { useMutation } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { DialogButton } from '../../parts/dialogs.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Note } from '../../parts/page.tsx';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { assetName, Copyable, Time } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { useStepUp } from '../../session/step-up.tsx';
import { Long, Mark, Part } from './operator-parts.tsx';

/** Which payouts are paused, and why; pauses and resumes them. */
export function Pauses({ pauses, assets }: { pauses: readonly OperatedPause[]; assets: readonly string[] }) {
  const free = assets.filter((asset) => !pauses.some((pause) => pause.asset === asset));
  return (
    <Part
      title="Paused payouts"
      text="Nothing new is signed, and new requests are refused. What is signed already is still sent."
      actions={
        <DialogButton label="Pause payouts" variant="light" color="red" disabled={free.length === 0}>
          {(close) => <PauseForm assets={free} onDone={close} />}
        </DialogButton>
      }
    >
      {pauses.length === 0 && <Alert color="green">Payouts of all assets run.</Alert>}
      {pauses.map((pause) => (
        <Pause key={pause.asset} pause={pause} />
      ))}
    </Part>
  );
}

function Pause({ pause: { asset, reasons, paused_at, in_force, by_console } }: { pause: OperatedPause }) {
  const stepUp = useStepUp();
  const resume = useMutation({
    mutationFn: () => stepUp(() => quittance.operator.resumePayouts(asset)),
    onSettled: () => readAgain('operator'),
  });
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Group justify="space-between">
          <Group gap="xs">
            <Text fw={600}>{assetName(asset)}</Text>
            <Mark good={false} label={in_force ? 'paused' : 'pausing, payouts has not confirmed it'} />
            <Note>
              since <Time at={paused_at} />
            </Note>
          </Group>
          {by_console && (
            <Button variant="light" onClick={() => resume.mutate()} loading={resume.isPending}>
              Resume
            </Button>
          )}
        </Group>
        {reasons.map(({ invariant, what }) => (
          <Long key={`${invariant} ${what}`} text={`${invariant}: ${what}`} />
        ))}
        {!by_console && (
          <Copyable text={`npx quittance payouts resume --asset ${asset}`} label="Copy the command" />
        )}
        <Failure error={resume.error} />
      </Stack>
    </Paper>
  );
}

function PauseForm({ assets, onDone }: { assets: readonly string[]; onDone(): void }) {
  const sent = useSentForm({
    initialValues: { asset: '', reason: '' },
    validate: { asset: isNotEmpty('Choose an asset.') },
    send: ({ asset, reason }) => quittance.operator.pausePayouts(asset, reason),
    onDone,
    changes: ['operator'],
  });
  return (
    <SendForm sent={sent} button="Pause" color="red">
      <Select
        label="Asset"
        data={assets.map((asset) => ({ value: asset, label: assetName(asset) }))}
        data-autofocus
        {...sent.field('asset')}
      />
      <Textarea
        label="Reason"
        description="Shown to other operators, with your id"
        required
        maxLength={300}
        autosize
        {...sent.field('reason')}
      />
      <Note>
        Where you doubt the gateway itself, pause with the command line: nobody ends such a pause from here.
      </Note>
    </SendForm>
  );
}
