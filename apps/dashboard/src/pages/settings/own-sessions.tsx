import { Badge, Group, Stack, Text } from '@mantine/core';
import type { Session } from '@quittance/client';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/dialogs.tsx';
import { Loaded, WithNote } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { type Column, Rows, timeColumn } from '../../parts/table.tsx';
import { readAgain } from '../../queries.ts';
import { useSession } from '../../session/session.ts';
import { programIn } from './user-agent.ts';

const changed = () => readAgain('sessions');

/** Where the person has signed in, in any account. */
export function OwnSessions() {
  const { accounts } = useSession();
  const query = useRead(['sessions'], (options) => quittance.sessions.list(options));
  const columns: readonly Column<Session>[] = [
    {
      id: 'with',
      title: 'With',
      render: ({ user_agent: program, current, address }) => (
        <WithNote note={address ?? 'unknown address'}>
          <Group gap="xs">
            <Text size="sm" title={program ?? undefined}>
              {programIn(program)}
            </Text>
            {current && (
              <Badge variant="light" radius="sm" tt="none" miw="max-content">
                this one
              </Badge>
            )}
          </Group>
        </WithNote>
      ),
    },
    {
      id: 'account',
      title: 'Account',
      render: ({ account_id: account }) => accounts.find(({ id }) => id === account)?.name ?? account,
    },
    timeColumn('signed_in_at', 'Signed in'),
    timeColumn('last_used_at', 'Last used'),
    {
      id: 'end',
      title: '',
      align: 'right',
      render: ({ id, current, user_agent: program }) =>
        !current && (
          <ConfirmButton
            label="End"
            title="End the session?"
            size="compact-sm"
            act={() => quittance.sessions.end(id)}
            onDone={changed}
          >
            {programIn(program)} is signed out. What was typed there and not sent is lost.
          </ConfirmButton>
        ),
    },
  ];
  return (
    <Loaded query={query}>
      {(sessions) => (
        <Stack>
          <Rows rows={sessions} columns={columns} keyOf={({ id }) => id} minWidth={640} />
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
