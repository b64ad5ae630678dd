import { Button, Group, Stack } from '@mantine/core';
import type { ComponentProps, FormEventHandler, ReactNode } from 'react';
import { SendFailure } from './send-once.tsx';

type Props = ComponentProps<typeof SendFailure> & {
  /** Of the first step: what is to be sent. */
  fields: ReactNode;
  onSubmit: FormEventHandler<HTMLFormElement>;
  onClose(): void;
  /** Of the second step: what is sent, what its button says and does. Undefined in the first step. */
  confirmed: { shown: ReactNode; label: string; send(): void } | undefined;
  onBack(): void;
  isPending: boolean;
};

/** What moves money, in two steps: the form, then all that it comes to and the one button that sends it. */
export function TwoSteps({ fields, onSubmit, onClose, confirmed, onBack, isPending, ...failure }: Props) {
  if (confirmed === undefined)
    return (
      <form onSubmit={onSubmit}>
        <Stack>
          {fields}
          <SendFailure {...failure} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Not now
            </Button>
            <Button type="submit">Go on</Button>
          </Group>
        </Stack>
      </form>
    );
  return (
    <Stack>
      {confirmed.shown}
      <SendFailure {...failure} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onBack} disabled={isPending || failure.isUnknown}>
          Back
        </Button>
        <Button loading={isPending} onClick={confirmed.send}>
          {confirmed.label}
        </Button>
      </Group>
    </Stack>
  );
}
