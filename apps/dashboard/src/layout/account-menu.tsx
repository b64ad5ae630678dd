import {
  Avatar,
  Menu,
  Modal,
  Stack,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import {
  IconArrowsExchange,
  IconDeviceDesktop,
  IconLogout,
  IconMoon,
  IconShieldLock,
  IconSun,
} from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance, unboundClient } from '../client.ts';
import { ME, queries, textOf } from '../queries.ts';
import { passkeyAssertion } from '../session/passkey-browser.ts';
import { ProofForm } from '../session/proof-form.tsx';
import { useSession } from '../session/session.ts';

const colours = [
  { scheme: 'light', label: 'Light', icon: IconSun },
  { scheme: 'dark', label: 'Dark', icon: IconMoon },
  { scheme: 'auto', label: 'As the device', icon: IconDeviceDesktop },
] as const;

/** Who has signed in, for which account; other accounts of the person; light or dark; signing out. */
export function AccountMenu() {
  const [wanted, setWanted] = useState<OtherAccount>();
  return (
    <>
      <AccountDropdown onChange={setWanted} />
      <ChangeAccount wanted={wanted} onClose={() => setWanted(undefined)} />
    </>
  );
}

function AccountDropdown({ onChange }: { onChange(account: OtherAccount): void }) {
  const { name, email, role, account_id: accountId, accounts } = useSession();
  const { setColorScheme } = useMantineColorScheme();
  const signOut = useMutation({
    mutationFn: () => quittance.sessions.end('current'),
    onSuccess: () => queries.setQueryData(ME, null),
    onError: (error) =>
      notifications.show({ color: 'red', title: 'You may still be signed in', message: textOf(error) }),
  });
  const others = accounts.filter(({ id }) => id !== accountId);
  const account = accounts.find(({ id }) => id === accountId)?.name ?? accountId;
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <UnstyledButton>
          <Avatar name={name} color="quittance.8" variant="filled" size={34} aria-hidden />
          <VisuallyHidden>
            {name}, {account}: account and sign-out
          </VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Stack gap={0} p="xs">
          <Text fw={600}>{name}</Text>
          <Text size="sm" c="dimmed">
            {email}
          </Text>
          <Text size="sm">
            {account} · {role}
          </Text>
        </Stack>
        {others.length > 0 && <Menu.Label>Change to</Menu.Label>}
        {others.map((other) => (
          <Menu.Item
            key={other.id}
            leftSection={<IconArrowsExchange size={16} />}
            onClick={() => onChange({ id: other.id, name: other.name })}
          >
            {other.name} <Text span c="dimmed" size="sm">{`· ${other.role}`}</Text>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component={Link} to="/security" leftSection={<IconShieldLock size={16} />}>
          Your sign-in
        </Menu.Item>
        <Menu.Label>Colours</Menu.Label>
        {colours.map(({ scheme, label, icon: ColourIcon }) => (
          <Menu.Item
            key={scheme}
            leftSection={<ColourIcon size={16} />}
            onClick={() => setColorScheme(scheme)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

type OtherAccount = { id: string; name: string };

type ChangeProps = { wanted: OtherAccount | undefined; onClose(): void };

/** A session is of one account: for another one the person signs in again. */
const ChangeAccount = ({ wanted, onClose }: ChangeProps) => (
  <Modal opened={wanted !== undefined} onClose={onClose} title={`Change to ${wanted?.name ?? ''}`}>
    {wanted !== undefined && <SignInFor account={wanted} onClose={onClose} />}
  </Modal>
);

function SignInFor({ account, onClose }: { account: OtherAccount; onClose(): void }) {
  const navigate = useNavigate();
  const { email } = useSession();
  const chosen = { account_id: account.id };
  return (
    <Stack>
      <Text size="sm">
        Sign in for {account.name}. All windows of this browser then show it. What you have typed into a form
        and not sent is lost.
      </Text>
      <ProofForm
        byPassword={(proof) => unboundClient.sessions.signIn({ email, ...proof, ...chosen })}
        byPasskey={async () =>
          unboundClient.sessions.signInWithPasskey({
            credential: await passkeyAssertion(await unboundClient.sessions.passkeyOptions()),
            ...chosen,
          })
        }
        onProof={() => {
          onClose();
          // The page that is open is of the account before.
          void navigate({ to: '/' });
        }}
      />
    </Stack>
  );
}
