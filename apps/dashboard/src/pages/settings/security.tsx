import { Stack } from '@mantine/core';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { useSession } from '../../session/session.ts';
import { AppCodes } from './app-codes.tsx';
import { OwnSessions } from './own-sessions.tsx';
import { Passkeys } from './passkeys.tsx';
import { PasswordForm } from './password-form.tsx';

/** What the person signs in with, and where the person has signed in. */
export function RoutePage() {
  const { name, email } = useSession();
  return (
    <Page title="Your sign-in">
      <Stack maw={760}>
        <Section title="You">
          <Facts facts={{ Name: name, 'E-mail address': email }} />
        </Section>
        <Section title="Password">
          <PasswordForm />
        </Section>
        <Section title="Codes of an app">
          <AppCodes />
        </Section>
        <Section title="Passkeys">
          <Passkeys />
        </Section>
        <Section title="Sessions">
          <OwnSessions />
        </Section>
      </Stack>
    </Page>
  );
}
