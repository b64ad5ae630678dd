import { Button, Checkbox, Modal, Stack, Text, TextInput } from '@mantine/core';
import { isNotEmpty } from '@mantine/form';
import type { MailKind, MailRecipient } from '@quittance/client';
import { useMutation } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { useFocusReturn } from '../../parts/dialogs.tsx';
import { Failure } from '../../parts/failure.tsx';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { readAgain } from '../../queries.ts';
import { mailKinds, usualKinds } from './mail-kinds.ts';

/** What the recipients are read under. */
export const MAIL_RECIPIENTS = 'mail-recipients';

type Props = {
  /** Undefined for a new one. */
  recipient?: MailRecipient;
  onDone(recipient: MailRecipient): void;
};

/** Adds an address, or changes what one is told of. */
export function MailRecipientForm({ recipient, onDone }: Props) {
  const sent = useSentForm({
    initialValues: { address: recipient?.address ?? '', kinds: recipient?.kinds ?? [...usualKinds] },
    validate: { kinds: isNotEmpty('Choose what it is told of.') },
    send: ({ address, kinds }): Promise<MailRecipient> =>
      recipient === undefined
        ? quittance.mailRecipients.create({ address: address.trim(), kinds })
        : quittance.mailRecipients.update(recipient.id, { kinds }),
    onDone,
    changes: [MAIL_RECIPIENTS],
  });
  return (
    <SendForm
      sent={sent}
      button={recipient === undefined ? 'Add' : 'Save'}
      unknown="It is not known whether it was done. Close this and look at the list."
    >
      {recipient === undefined && (
        <TextInput
          label="E-mail address"
          description="It is sent a code, and is told of nothing until you give that back."
          type="email"
          autoComplete="off"
          required
          data-autofocus
          {...sent.field('address')}
        />
      )}
      <Checkbox.Group
        label="What it is told of"
        {...sent.field('kinds')}
        onChange={(kinds) => sent.form.setFieldValue('kinds', kinds as MailKind[])}
      >
        <Stack gap="xs" mt={6}>
          {mailKinds.map(({ value, label, meaning }) => (
            <Checkbox key={value} value={value} label={label} description={meaning} />
          ))}
        </Stack>
      </Checkbox.Group>
    </SendForm>
  );
}

type CodeProps = Props & { recipient: MailRecipient; onClose(): void };

/** Asks for the code that was sent to an address. */
export function MailCodeDialog({ recipient, onClose, onDone }: CodeProps) {
  useFocusReturn();
  const sent = useSentForm({
    initialValues: { code: '' },
    send: ({ code }) => quittance.mailRecipients.confirm(recipient.id, code),
    onDone,
    changes: [MAIL_RECIPIENTS],
  });
  const again = useMutation({
    mutationFn: () => quittance.mailRecipients.sendCode(recipient.id),
    onSettled: () => readAgain(MAIL_RECIPIENTS),
  });
  return (
    <Modal opened onClose={onClose} title="Confirm the address">
      <Stack>
        <SendForm sent={sent} button="Confirm">
          <Text size="sm">
            Give the code of the newest e-mail to {recipient.address}. It counts once, for a day.
          </Text>
          <TextInput
            label="Code"
            placeholder="XXXX-XXXX-XXXX"
            autoComplete="one-time-code"
            required
            data-autofocus
            {...sent.field('code')}
          />
          <Failure error={again.error} />
          {again.isSuccess && <Text size="sm">Another code is on its way.</Text>}
        </SendForm>
        <Button variant="subtle" loading={again.isPending} onClick={() => again.mutate()}>
          Send another code
        </Button>
      </Stack>
    </Modal>
  );
}
