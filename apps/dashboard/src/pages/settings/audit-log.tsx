import { Stack, Text } from '@mantine/core';
import type { AuditEntry } from '@quittance/client';
import { quittance } from '../../client.ts';
import { type Column, ListPage } from '../../parts/list-page.tsx';
import { Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';

/** Who has changed what. */
export const RoutePage = () => (
  <Page title="Audit log">
    <Text size="sm" c="dimmed">
      Who has changed tokens, people, and where money and messages go. Entries are never changed or deleted.
    </Text>
    <ListPage<AuditEntry>
      name="audit-log"
      load={(query, signal) => quittance.auditLog.list(query, { signal })}
      csv={(_query, signal) => quittance.auditLog.csv({ signal })}
      columns={columns}
      empty={{ title: 'Nothing was changed yet' }}
    />
  </Page>
);

const columns: readonly Column<AuditEntry>[] = [
  { id: 'created_at', title: 'When', render: ({ created_at: at }) => <Time at={at} /> },
  {
    id: 'actor',
    title: 'Who',
    render: ({ actor: { type, name, id }, address }) => (
      <Stack gap={0} style={{ overflowWrap: 'anywhere', minWidth: 140 }}>
        <Text size="sm">{type === 'operator' ? 'the operator' : (name ?? id)}</Text>
        <Text size="xs" c="dimmed">
          {[type === 'token' ? 'API token' : undefined, address].filter(Boolean).join(', ')}
        </Text>
      </Stack>
    ),
  },
  {
    id: 'action',
    title: 'What',
    render: ({ action, subject, token_id: token }) => (
      <Stack gap={0} style={{ overflowWrap: 'anywhere', minWidth: 160 }}>
        <Text size="sm">{action}</Text>
        <Text size="xs" c="dimmed">
          {subject ?? token}
        </Text>
      </Stack>
    ),
  },
  {
    id: 'detail',
    title: 'Detail',
    render: ({ detail }) => (
      <Text size="xs" style={{ overflowWrap: 'anywhere', minWidth: 140 }}>
        {detail}
      </Text>
    ),
  },
];
