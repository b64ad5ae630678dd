import { Badge, Group, Stack, Table, Text, VisuallyHidden } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Loaded } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Time } from '../../parts/time.tsx';
import { useSession } from '../../session/session.ts';
import { programIn } from './user-agent.ts';

/** Where the person has signed in, in any account. */
export function OwnSessions() {
  const client = useQueryClient();
  const { accounts } = useSession();
  const query = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => quittance.sessions.list({ signal }),
  });
  const changed = () => client.invalidateQueries({ queryKey: ['sessions'] });
  return (
    <Loaded query={query}>
      {(sessions) => (
        <Stack>
          <ScrollTable minWidth={640} verticalSpacing="xs">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>With</Table.Th>
                <Table.Th>Account</Table.Th>
                <Table.Th>Signed in</Table.Th>
                <Table.Th>Last used</Table.Th>
                <Table.Th>
                  <VisuallyHidden>Actions</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {sessions.map((session) => (
                <Table.Tr key={session.id}>
                  <Table.Td>
                    <Group gap="xs">
                      <Text size="sm" title={session.user_agent ?? undefined}>
                        {programIn(session.user_agent)}
                      </Text>
                      {session.current && (
                        <Badge variant="light" radius="sm" tt="none" miw="max-content">
                          this one
                        </Badge>
                      )}
                    </Group>
                    <Text size="xs" c="dimmed">
                      {session.address ?? 'unknown address'}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    {accounts.find(({ id }) => id === session.account_id)?.name ?? session.account_id}
                  </Table.Td>
                  <Table.Td>
                    <Time at={session.signed_in_at} />
                  </Table.Td>
                  <Table.Td>
                    <Time at={session.last_used_at} />
                  </Table.Td>
                  <Table.Td ta="right">
                    {!session.current && (
                      <ConfirmButton
                        label="End"
                        title="End the session?"
                        size="compact-sm"
                        act={() => quittance.sessions.end(session.id)}
                        onDone={changed}
                      >
                        {programIn(session.user_agent)} is signed out. What was typed there and not sent is
                        lost.
                      </ConfirmButton>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </ScrollTable>
          {sessions.length > 1 && (
            <Group>
              <ConfirmButton
                label="End all others"
                title="End all other sessions?"
                act={() => quittance.sessions.endOthers()}
                onDone={changed}
              >
                You stay signed in here, and nowhere else. Do this when a device is lost.
              </ConfirmButton>
            </Group>
          )}
        </Stack>
      )}
    </Loaded>
  );
}
