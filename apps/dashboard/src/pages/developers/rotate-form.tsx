import { Select, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';

type Props<Answer> = {
  /** How long what is replaced may stay valid, in hours. */
  overlaps: readonly { value: number; label: string }[];
  send(overlapHours: number): Promise<Answer>;
  onDone(answer: Answer): void;
  changes: readonly string[];
  unknown: ReactNode;
  children: ReactNode;
};

const A_DAY = 24;

/** Replaces a secret by a new one: the former stays valid until the programs that have it have changed. */
export function RotateForm<Answer>({ overlaps, send, onDone, changes, unknown, children }: Props<Answer>) {
  const sent = useSentForm({
    initialValues: { overlap: A_DAY },
    send: ({ overlap }) => send(overlap),
    onDone,
    changes,
  });
  return (
    <SendForm sent={sent} button="Rotate" unknown={unknown}>
      <Text size="sm">{children}</Text>
      <Select
        label="How long the present one stays valid"
        data={[...overlaps]}
        allowDeselect={false}
        {...sent.field('overlap')}
      />
    </SendForm>
  );
}
