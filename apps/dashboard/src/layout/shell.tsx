import { AppShell, Burger, Group, NavLink, ScrollArea, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { AccountMenu } from './account-menu.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { useLiveUpdates } from './live-updates.ts';
import { usePlaces } from './navigation.ts';
import { PageSearch, PageSearchButton } from './page-search.tsx';

/** What is around every page: the menu, the search, who has signed in. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  useLiveUpdates();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={isOpen ? 'Close the menu' : 'Open the menu'}
            />
            <Title order={1} size="h4" component="p">
              Quittance
            </Title>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <PageSearchButton />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar>
        <AppShell.Section grow component={ScrollArea} p="xs">
          <Menu onChoice={close} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main>
        <ConnectionBanner />
        <Outlet />
      </AppShell.Main>
      <PageSearch />
    </AppShell>
  );
}

function Menu({ onChoice }: { onChoice(): void }) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return usePlaces().map(({ group, places: open }) => (
    <div key={group}>
      {group !== '' && (
        <Text size="xs" c="dimmed" fw={600} mt="md" mb={4} px="xs">
          {group}
        </Text>
      )}
      {open.map(({ to, label, icon: PlaceIcon }) => (
        <NavLink
          key={to}
          component={Link}
          to={to}
          label={label}
          leftSection={<PlaceIcon size={18} stroke={1.6} aria-hidden />}
          active={to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`)}
          onClick={onChoice}
        />
      ))}
    </div>
  ));
}
