import { Button, Checkbox, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { MailKind, MailRecipient } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { Failure } from '../../parts/failure.tsx';
import { errorsOfLists } from '../../parts/form-errors.ts';
import { UnknownOutcome } from '../../parts/unknown-outcome.tsx';
import { useStepUp } from '../../session/step-up.tsx';
import { mailKinds, usualKinds } from './mail-kinds.ts';

export const MAIL_RECIPIENTS = ['mail-recipients'] as const;

type Props = {
  /** Undefined for a new one. */
  recipient?: MailRecipient;
  onClose(): void;
  onDone(recipient: MailRecipient): void;
};

/** Adds an address, or changes what one is told of. */
export function MailRecipientDialog({ recipient, onClose, onDone }: Props) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const form = useForm({
    initialValues: { address: recipient?.address ?? '', kinds: recipient?.kinds ?? [...usualKinds] },
    validate: { kinds: (kinds) => (kinds.length === 0 ? 'Choose what it is told of.' : null) },
  });
  const run = useMutation({
    mutationFn: ({ address, kinds }: typeof form.values) =>
      stepUp(() =>
        recipient === undefined
          ? quittance.mailRecipients.create({ address: address.trim(), kinds })
          : quittance.mailRecipients.update(recipient.id, { kinds }),
      ),
    onSuccess: onDone,
    onError: (error) => form.setErrors(errorsOfLists(error)),
    onSettled: () => client.invalidateQueries({ queryKey: MAIL_RECIPIENTS }),
  });
  return (
    <Modal opened onClose={onClose} title={recipient === undefined ? 'Add an address' : recipient.address}>
      <form onSubmit={form.onSubmit((values) => run.mutate(values))}>
        <Stack>
          {recipient === undefined && (
            <TextInput
              label="E-mail address"
              description="It is sent a code, and is told of nothing until you give that back."
              type="email"
              autoComplete="off"
              required
              data-autofocus
              {...form.getInputProps('address')}
            />
          )}
          <Checkbox.Group
            label="What it is told of"
            {...form.getInputProps('kinds')}
            onChange={(kinds) => form.setFieldValue('kinds', kinds as MailKind[])}
          >
            <Stack gap="xs" mt={6}>
              {mailKinds.map(({ value, label, meaning }) => (
                <Checkbox key={value} value={value} label={label} description={meaning} />
              ))}
            </Stack>
          </Checkbox.Group>
          <UnknownOutcome error={run.error}>
            <Text size="sm">It is not known whether it was done. Close this and look at the list.</Text>
          </UnknownOutcome>
          {run.error !== null && <Failure error={run.error} />}
          <Button type="submit" loading={run.isPending}>
            {recipient === undefined ? 'Add' : 'Save'}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

/** Asks for the code that was sent to an address. */
export function MailCodeDialog({ recipient, onClose, onDone }: Props & { recipient: MailRecipient }) {
  const client = useQueryClient();
  const form = useForm({ initialValues: { code: '' } });
  const changed = () => client.invalidateQueries({ queryKey: MAIL_RECIPIENTS });
  const confirm = useMutation({
    mutationFn: ({ code }: typeof form.values) => quittance.mailRecipients.confirm(recipient.id, code),
    onSuccess: onDone,
    onError: (error) => form.setErrors(errorsOfLists(error)),
    onSettled: changed,
  });
  const again = useMutation({
    mutationFn: () => quittance.mailRecipients.sendCode(recipient.id),
    onSettled: changed,
  });
  return (
    <Modal opened onClose={onClose} title="Confirm the address">
      <form onSubmit={form.onSubmit((values) => confirm.mutate(values))}>
        <Stack>
          <Text size="sm">
            Give the code of the newest e-mail to {recipient.address}. It counts once, for a day.
          </Text>
          <TextInput
            label="Code"
            placeholder="XXXX-XXXX-XXXX"
            autoComplete="one-time-code"
            required
            data-autofocus
            {...form.getInputProps('code')}
          />
          {confirm.error !== null && <Failure error={confirm.error} />}
          {again.error !== null && <Failure error={again.error} />}
          {again.isSuccess && <Text size="sm">Another code is on its way.</Text>}
          <Button type="submit" loading={confirm.isPending}>
            Confirm
          </Button>
          <Button variant="subtle" loading={again.isPending} onClick={() => again.mutate()}>
            Send another code
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
