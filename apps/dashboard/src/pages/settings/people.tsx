import {
  Badge,
  Button,
  Group,
  Paper,
  Select,
  Stack,
  Table,
  Text,
  Title,
  VisuallyHidden,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Person, Role } from '@quittance/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Loaded, Page } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Time } from '../../parts/time.tsx';
import { ME } from '../../queries.ts';
import { useSession } from '../../session/session.ts';
import { Invitations, InviteButton } from './invitations.tsx';
import { givenBy, mayChange, roleMeanings } from './roles.ts';

/** Who may sign in for the account, and who is invited. */
export function RoutePage() {
  const people = useQuery({
    queryKey: ['people'],
    queryFn: ({ signal }) => quittance.people.list({ signal }),
  });
  return (
    <Page title="People" actions={<InviteButton />}>
      <Loaded query={people}>
        {(all) => (
          <Paper withBorder>
            <ScrollTable minWidth={640} verticalSpacing="xs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Person</Table.Th>
                  <Table.Th>Role</Table.Th>
                  <Table.Th>Since</Table.Th>
                  <Table.Th>Last sign-in</Table.Th>
                  <Table.Th>
                    <VisuallyHidden>Actions</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {all.map((person) => (
                  <PersonRow key={person.id} person={person} />
                ))}
              </Table.Tbody>
            </ScrollTable>
          </Paper>
        )}
      </Loaded>
      <Title order={2} size="h4">
        Invitations
      </Title>
      <Invitations />
      <Title order={2} size="h4">
        Roles
      </Title>
      <Paper withBorder p="md">
        <Stack gap={6}>
          {Object.entries(roleMeanings).map(([role, text]) => (
            <Text key={role} size="sm">
              <Text span fw={600}>
                {role}
              </Text>{' '}
              <Text span c="dimmed">
                {text}
              </Text>
            </Text>
          ))}
        </Stack>
      </Paper>
    </Page>
  );
}

function PersonRow({ person }: { person: Person }) {
  const client = useQueryClient();
  const { id: ownId, role: ownRole } = useSession();
  const isSelf = person.id === ownId;
  const isOpen = mayChange(ownRole, person.role);
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs">
          <Text size="sm" fw={600}>
            {person.name}
          </Text>
          {isSelf && (
            <Badge variant="light" radius="sm" tt="none">
              you
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {person.email}
        </Text>
      </Table.Td>
      <Table.Td>{isOpen ? <RoleOf person={person} /> : person.role}</Table.Td>
      <Table.Td>
        <Time at={person.joined_at} />
      </Table.Td>
      <Table.Td>{person.last_sign_in_at === null ? 'never' : <Time at={person.last_sign_in_at} />}</Table.Td>
      <Table.Td ta="right">
        {isOpen && (
          <ConfirmButton
            label={isSelf ? 'Leave' : 'Remove'}
            title={isSelf ? 'Leave the account?' : `Remove ${person.name}?`}
            size="compact-sm"
            act={() => quittance.people.remove(person.id)}
            onDone={() => client.invalidateQueries({ queryKey: isSelf ? ME : ['people'] })}
          >
            {isSelf ? 'You are' : `${person.name} is`} signed out everywhere, and cannot sign in for this
            account any more. API tokens that {isSelf ? 'you have' : `${person.name} has`} created stay: look
            at them too.
          </ConfirmButton>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

/** The role, which is changed after a confirmation. */
function RoleOf({ person }: { person: Person }) {
  const client = useQueryClient();
  const { role: ownRole, id: ownId } = useSession();
  const [wanted, setWanted] = useState<Role>(person.role);
  // It may have been changed elsewhere.
  const [known, setKnown] = useState(person.role);
  if (known !== person.role) {
    setKnown(person.role);
    setWanted(person.role);
  }
  return (
    <Group gap={4} wrap="nowrap">
      <Select
        aria-label={`Role of ${person.name}`}
        data={givenBy(ownRole)}
        value={wanted}
        onChange={(role) => setWanted(role ?? person.role)}
        allowDeselect={false}
        size="xs"
        w={130}
      />
      {wanted !== person.role && (
        <>
          <ConfirmButton
            label="Change"
            title={`Make ${person.name} ${wanted}?`}
            size="compact-sm"
            variant="filled"
            color="quittance"
            act={() => quittance.people.changeRole(person.id, wanted)}
            onDone={async () => {
              notifications.show({ message: `${person.name} is ${wanted} now.` });
              await client.invalidateQueries({ queryKey: ['people'] });
              if (person.id === ownId) await client.invalidateQueries({ queryKey: ME });
            }}
          >
            {roleMeanings[wanted]} {person.name} is signed out everywhere, and signs in again with the new
            role.
          </ConfirmButton>
          <Button size="compact-sm" variant="subtle" onClick={() => setWanted(person.role)}>
            Keep
          </Button>
        </>
      )}
    </Group>
  );
}
