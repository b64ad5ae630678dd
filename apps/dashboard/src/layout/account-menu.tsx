import {
  Avatar,
  Menu,
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
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../client.ts';
import { ME, textOf } from '../queries.ts';
import { useSession } from '../session/session.ts';
import { ChangeAccount, type OtherAccount } from './change-account.tsx';

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
  const client = useQueryClient();
  const { name, email, role, account_id: accountId, accounts } = useSession();
  const { setColorScheme } = useMantineColorScheme();
  const signOut = useMutation({
    mutationFn: () => quittance.sessions.end('current'),
    onSuccess: () => client.setQueryData(ME, null),
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
        <Menu.Item leftSection={<IconSun size={16} />} onClick={() => setColorScheme('light')}>
          Light
        </Menu.Item>
        <Menu.Item leftSection={<IconMoon size={16} />} onClick={() => setColorScheme('dark')}>
          Dark
        </Menu.Item>
        <Menu.Item leftSection={<IconDeviceDesktop size={16} />} onClick={() => setColorScheme('auto')}>
          As the device
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
