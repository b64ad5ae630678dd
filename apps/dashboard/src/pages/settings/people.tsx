import { Badge, Button, Group, Paper, Select, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Person, Role } from '@quittance/client';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/dialogs.tsx';
import { Heading, Loaded, Page, WithNote } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { type Column, Rows, timeColumn } from '../../parts/table.tsx';
import { readAgain } from '../../queries.ts';
import { useSession } from '../../session/session.ts';
import { Invitations, InviteButton } from './invitations.tsx';
import { givenBy, mayChange, roleMeanings } from './roles.ts';

type Own = { id: string; role: Role };

const columnsOf = (own: Own): readonly Column<Person>[] => [
  {
    id: 'person',
    title: 'Person',
    render: ({ id, name, email }) => (
      <WithNote note={email}>
        <Group gap="xs">
          <b>{name}</b>
          {id === own.id && (
            <Badge variant="light" radius="sm" tt="none">
              you
            </Badge>
          )}
        </Group>
      </WithNote>
    ),
  },
  {
    id: 'role',
    title: 'Role',
    render: (person) =>
      mayChange(own.role, person.role) ? <RoleOf person={person} own={own} /> : person.role,
  },
  timeColumn('joined_at', 'Since'),
  timeColumn('last_sign_in_at', 'Last sign-in', { never: 'never' }),
  {
    id: 'remove',
    title: '',
    align: 'right',
    render: ({ id, name, role }) => {
      const isSelf = id === own.id;
      if (!mayChange(own.role, role)) return null;
      return (
        <ConfirmButton
          label={isSelf ? 'Leave' : 'Remove'}
          title={isSelf ? 'Leave the account?' : `Remove ${name}?`}
          size="compact-sm"
          act={() => quittance.people.remove(id)}
          onDone={() => readAgain(isSelf ? 'me' : 'people')}
        >
          {isSelf ? 'You are' : `${name} is`} signed out everywhere, and cannot sign in for this account any
          more. API tokens that {isSelf ? 'you have' : `${name} has`} created stay: look at them too.
        </ConfirmButton>
      );
    },
  },
];

/** Who may sign in for the account, and who is invited. */
export function RoutePage() {
  const { id, role } = useSession();
  const people = useRead(['people'], (options) => quittance.people.list(options));
  return (
    <Page title="People" actions={<InviteButton />}>
      <Loaded query={people}>
        {(all) => (
          <Paper withBorder>
            <Rows rows={all} columns={columnsOf({ id, role })} keyOf={(person) => person.id} minWidth={640} />
          </Paper>
        )}
      </Loaded>
      <Heading>Invitations</Heading>
      <Invitations />
      <Heading>Roles</Heading>
      <Paper withBorder p="md">
        <Stack gap={6}>
          {Object.entries(roleMeanings).map(([name, text]) => (
            <Text key={name} size="sm" c="dimmed">
              <Text span inherit fw={600} c="var(--mantine-color-text)">
                {name}
              </Text>{' '}
              {text}
            </Text>
          ))}
        </Stack>
      </Paper>
    </Page>
  );
}

/** The role, which is changed after a confirmation. */
function RoleOf({ person: { id, name, role }, own }: { person: Person; own: Own }) {
  const [wanted, setWanted] = useState<Role>(role);
  // It may have been changed elsewhere.
  const [known, setKnown] = useState(role);
  if (known !== role) {
    setKnown(role);
    setWanted(role);
  }
  return (
    <Group gap={4} wrap="nowrap">
      <Select
        aria-label={`Role of ${name}`}
        data={givenBy(own.role)}
        value={wanted}
        onChange={(chosen) => setWanted(chosen ?? role)}
        allowDeselect={false}
        size="xs"
        w={130}
      />
      {wanted !== role && (
        <>
          <ConfirmButton
            label="Change"
            title={`Make ${name} ${wanted}?`}
            size="compact-sm"
            variant="filled"
            color="quittance"
            act={() => quittance.people.changeRole(id, wanted)}
            onDone={async () => {
              notifications.show({ message: `${name} is ${wanted} now.` });
              await readAgain('people', ...(id === own.id ? ['me'] : []));
            }}
          >
            {roleMeanings[wanted]} {name} is signed out everywhere, and signs in again with the new role.
          </ConfirmButton>
          <Button size="compact-sm" variant="subtle" onClick={() => setWanted(role)}>
            Keep
          </Button>
        </>
      )}
    </Group>
  );
}
