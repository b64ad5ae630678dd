import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/dialogs.tsx';
import { Failure } from '../../parts/failure.tsx';
import { QrCode } from '../../parts/qr-code.tsx';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { Copyable } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { useSession } from '../../session/session.ts';
import { useStepUp } from '../../session/step-up.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

const changed = () => readAgain('me');

/** The second factor: a secret for an app, its first code, then recovery codes. */
export function AppCodes() {
  const stepUp = useStepUp();
  const { second_factor: factor } = useSession();
  const [codes, setCodes] = useState<string[]>();
  const begin = useMutation({ mutationFn: () => stepUp(() => quittance.me.beginTotp()) });
  return (
    <Stack>
      {factor.totp ? (
        <>
          <Text size="sm">
            You sign in with a code of your app beside the password. You have {factor.recovery_codes} recovery
            codes left.
          </Text>
          {factor.recovery_codes < 3 && (
            <Alert color="yellow">Make new recovery codes before you have none left.</Alert>
          )}
          <Group>
            <ConfirmButton
              label="New recovery codes"
              title="New recovery codes?"
              act={async () => setCodes((await quittance.me.replaceRecoveryCodes()).recovery_codes)}
              onDone={changed}
            >
              The present ones are not valid any more then.
            </ConfirmButton>
            <ConfirmButton
              label="Remove the codes"
              title="Sign in without codes?"
              act={() => quittance.me.removeTotp()}
              onDone={() => {
                notifications.show({ message: 'Codes of an app are no longer asked for.' });
                return changed();
              }}
            >
              Whoever knows your password can then sign in, unless you have passkeys and keep the password to
              yourself.
            </ConfirmButton>
          </Group>
        </>
      ) : (
        <>
          <Text size="sm">
            With a code of an app on your phone beside the password, somebody who knows the password cannot
            sign in.
          </Text>
          <Group>
            <Button loading={begin.isPending} onClick={() => begin.mutate()}>
              Set up codes
            </Button>
          </Group>
        </>
      )}
      <Failure error={begin.error} />
      <Modal
        opened={begin.data !== undefined}
        onClose={begin.reset}
        title="Set up codes"
        closeOnClickOutside={false}
      >
        {begin.data !== undefined && (
          <ConfirmTotp
            secret={begin.data}
            onConfirmed={(recovery) => {
              begin.reset();
              setCodes(recovery);
            }}
          />
        )}
      </Modal>
      <RecoveryCodes codes={codes} onClose={() => setCodes(undefined)} />
    </Stack>
  );
}

type ConfirmProps = { secret: { secret: string; uri: string }; onConfirmed(codes: string[]): void };

function ConfirmTotp({ secret: { secret, uri }, onConfirmed }: ConfirmProps) {
  const sent = useSentForm({
    initialValues: { code: '' },
    send: ({ code }) => quittance.me.confirmTotp(code.replaceAll(/\s/g, '')),
    onDone: ({ recovery_codes: codes }) => onConfirmed(codes),
    changes: ['me'],
  });
  return (
    <SendForm sent={sent} button="Confirm">
      <Text size="sm">Scan this with an app for one-time codes, or type its secret into the app.</Text>
      <QrCode text={uri} label="The secret as a QR code" />
      <Copyable text={secret} label="Copy the secret" />
      <TextInput
        label="First code of the app"
        description="Six digits. From then on a code is asked for."
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        data-autofocus
        {...sent.field('code')}
      />
    </SendForm>
  );
}
