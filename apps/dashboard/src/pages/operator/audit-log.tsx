import { Stack, Text } from '@mantine/core';
import type { OperatedAuditEntry } from '@quittance/client';
import { quittance } from '../../client.ts';
import { Loaded, Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { ByCommand, Part, Rows, type TableColumn, useOperated } from './operator-parts.tsx';

/** Who changed accounts, tokens, people and what operators change. */
export function RoutePage() {
  const query = useOperated('audit-log', (options) => quittance.operator.auditLog(options));
  return (
    <Page title="Audit log of all accounts">
      <Loaded query={query}>
        {(entries) => (
          <Stack gap="xl">
            <Part title="The last 200 entries">
              <Rows
                rows={entries}
                columns={columns}
                keyOf={({ position }) => position}
                empty="No entries yet"
              />
            </Part>
            <ByCommand
              commands={[
                ['Verify that no entry was changed or taken away:', 'audit verify'],
                ['All entries:', 'audit export'],
              ]}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

const Long = ({ text }: { text: string }) => (
  <Text size="sm" style={{ overflowWrap: 'anywhere' }} miw={160}>
    {text}
  </Text>
);

const columns: readonly TableColumn<OperatedAuditEntry>[] = [
  { title: 'Time', render: ({ at }) => <Time at={at} /> },
  { title: 'Who', render: ({ actor }) => <Long text={actor} /> },
  { title: 'From', render: ({ source }) => source ?? '—' },
  { title: 'Action', render: ({ action }) => action },
  { title: 'On', render: ({ subject, account_id }) => <Long text={subject ?? account_id ?? '—'} /> },
  { title: 'Detail', render: ({ detail }) => detail ?? '' },
];
