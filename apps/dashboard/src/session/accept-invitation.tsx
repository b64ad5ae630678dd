import { Button, PasswordInput, Text, TextInput } from '@mantine/core';
import { matchesField } from '@mantine/form';
import type { SignedIn } from '@quittance/client';
import { useState } from 'react';
import { quittance } from '../client.ts';
import { Note } from '../parts/page.tsx';
import { SendForm, useSentForm } from '../parts/send-form.tsx';
import { SessionPage } from './session-page.tsx';

type Props = { token: string; session: SignedIn | undefined };

/** Takes the token of an invitation: with a name and a password, or with the session of somebody who has both. */
export function AcceptInvitation({ token, session }: Props) {
  const [isDone, setDone] = useState(false);
  const isNew = session === undefined;
  const sent = useSentForm({
    initialValues: { name: '', password: '', again: '' },
    validate: { again: matchesField('password', 'This is another password than the one above.') },
    send: ({ name, password }) => quittance.invitations.accept(isNew ? { token, name, password } : { token }),
    onDone: () => setDone(true),
  });
  const leave = () => {
    window.history.replaceState(null, '', '/dashboard/');
    window.location.reload();
  };
  if (isDone)
    return (
      <SessionPage title="Welcome">
        <Text>The invitation is accepted.</Text>
        <Button onClick={leave}>{isNew ? 'Sign in' : 'Go on'}</Button>
      </SessionPage>
    );
  const secret = { autoComplete: 'new-password', required: true } as const;
  return (
    <SessionPage title="Accept the invitation">
      <SendForm sent={sent} button="Accept">
        {isNew ? (
          <>
            <TextInput label="Your name" autoComplete="name" required autoFocus {...sent.field('name')} />
            <PasswordInput
              label="A password"
              description="At least 12 characters"
              {...secret}
              {...sent.field('password')}
            />
            <PasswordInput label="The password again" {...secret} {...sent.field('again')} />
            <Note>
              You have signed in here before? Sign in first, then open the link of the invitation again.
            </Note>
          </>
        ) : (
          <Text>
            You are signed in as {session.name} ({session.email}).
          </Text>
        )}
      </SendForm>
      <Button variant="subtle" onClick={leave}>
        Not now
      </Button>
    </SessionPage>
  );
}
