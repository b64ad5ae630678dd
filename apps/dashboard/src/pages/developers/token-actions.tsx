import { Button, Modal, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import type { Token } from '@quittance/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { UnknownOutcome } from '../../parts/unknown-outcome.tsx';
import { useStepUp } from '../../session/step-up.tsx';

export function RevokeToken({ token }: { token: Token }) {
  const client = useQueryClient();
  return (
    <ConfirmButton
      label="Revoke"
      title={`Revoke ${token.name}?`}
      size="compact-sm"
      act={() => quittance.tokens.revoke(token.id)}
      onDone={() => {
        notifications.show({ message: `${token.name} is revoked.` });
        return client.invalidateQueries({ queryKey: ['tokens'] });
      }}
    >
      The next request with the token that ends in {token.hint} is refused. This cannot be undone. Tokens that
      it has created stay.
    </ConfirmButton>
  );
}

type RotateProps = { token: Token; onRotated(shown: { token: string; text: string }): void };

const overlaps = [
  { value: 0, label: 'Not at all: it ends now' },
  { value: 1, label: 'For an hour' },
  { value: 24, label: 'For a day' },
  { value: 72, label: 'For three days' },
  { value: 168, label: 'For a week' },
] as const;

/** A new token in the place of this one, which stays valid until its programs have changed. */
export function RotateToken({ token, onRotated }: RotateProps) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={open}>
        Rotate
      </Button>
      <Modal opened={isOpen} onClose={close} title={`Rotate ${token.name}`} closeOnClickOutside={false}>
        <RotateForm
          token={token}
          onRotated={(shown) => {
            close();
            onRotated(shown);
          }}
        />
      </Modal>
    </>
  );
}

function RotateForm({ token, onRotated }: RotateProps) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const [overlap, setOverlap] = useState(24);
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const rotate = useMutation({
    mutationFn: () =>
      stepUp(() => quittance.tokens.rotate(token.id, { overlap_hours: overlap }, { idempotencyKey })),
    onSuccess: ({ token: secret, former_token_expires_at: end }) =>
      onRotated({
        token: secret,
        text: `The former one, which ends in ${token.hint}, is valid until ${new Date(end).toLocaleString()}.`,
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rotate.mutate();
      }}
    >
      <Stack>
        <Text size="sm">
          A new token with the same name, scopes and addresses is created. Put it into the program while both
          are valid.
        </Text>
        <Select
          label="How long the present one stays valid"
          data={[...overlaps]}
          value={overlap}
          onChange={(value) => setOverlap(value ?? 24)}
          allowDeselect={false}
        />
        <UnknownOutcome error={rotate.error}>
          It is not known whether it was rotated. Look at the list: if there is a new one, rotate that one,
          because it cannot be shown any more.
        </UnknownOutcome>
        {rotate.error !== null && <Failure error={rotate.error} />}
        <Button type="submit" loading={rotate.isPending}>
          Rotate
        </Button>
      </Stack>
    </form>
  );
}
