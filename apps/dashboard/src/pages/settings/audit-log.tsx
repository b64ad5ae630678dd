import type { AuditEntry } from '@quittance/client';
import { quittance } from '../../client.ts';
import { ListPage } from '../../parts/list-page.tsx';
import { Note, Page, Small, WithNote } from '../../parts/page.tsx';
import { type Column, timeColumn } from '../../parts/table.tsx';

/** Who has changed what. */
export const RoutePage = () => (
  <Page title="Audit log">
    <Note>
      Who has changed tokens, people, and where money and messages go. Entries are never changed or deleted.
    </Note>
    <ListPage<AuditEntry>
      name="audit-log"
      load={(query, options) => quittance.auditLog.list(query, options)}
      csv={(_query, options) => quittance.auditLog.csv(options)}
      columns={columns}
      empty={{ title: 'Nothing was changed yet' }}
    />
  </Page>
);

const columns: readonly Column<AuditEntry>[] = [
  timeColumn('created_at', 'When'),
  {
    id: 'actor',
    title: 'Who',
    render: ({ actor: { type, name, id }, address }) => (
      <WithNote
        width={140}
        note={[type === 'token' ? 'API token' : undefined, address].filter(Boolean).join(', ')}
      >
        {type === 'operator' ? 'the operator' : (name ?? id)}
      </WithNote>
    ),
  },
  {
    id: 'action',
    title: 'What',
    render: ({ action, subject, token_id: token }) => (
      <WithNote width={160} note={subject ?? token}>
        {action}
      </WithNote>
    ),
  },
  {
    id: 'detail',
    title: 'Detail',
    render: ({ detail }) => (
      <Small c={undefined} miw={140} style={{ overflowWrap: 'anywhere' }}>
        {detail}
      </Small>
    ),
  },
];
