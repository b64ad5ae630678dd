import { PasswordInput } from '@mantine/core';
import { matchesField } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { quittance } from '../../client.ts';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { useSession } from '../../session/session.ts';

export function PasswordForm() {
  const { email } = useSession();
  const sent = useSentForm({
    initialValues: { current_password: '', password: '', again: '' },
    validate: { again: matchesField('password', 'This is another password than the one above.') },
    send: ({ current_password, password }) => quittance.me.changePassword({ current_password, password }),
    onDone: () => {
      sent.form.reset();
      notifications.show({ message: 'The password is changed. Your other sessions have ended.' });
    },
    changes: ['sessions'],
  });
  const fresh = { autoComplete: 'new-password', required: true, maw: 360 } as const;
  return (
    <SendForm
      sent={sent}
      button="Change the password"
      align="flex-start"
      unknown="It is not known whether the password was changed. Sign in with the new one in another window to find out."
    >
      {/* Password managers want to know whose password it is. */}
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <PasswordInput
        label="Present password"
        {...fresh}
        autoComplete="current-password"
        {...sent.field('current_password')}
      />
      <PasswordInput
        label="New password"
        description="At least 12 characters. Common ones are refused."
        {...fresh}
        {...sent.field('password')}
      />
      <PasswordInput label="New password again" {...fresh} {...sent.field('again')} />
    </SendForm>
  );
}
