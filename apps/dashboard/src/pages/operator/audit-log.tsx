import type { OperatedAuditEntry } from '@quittance/client';
import { quittance } from '../../client.ts';
import { type Column, textColumn, timeColumn } from '../../parts/table.tsx';
import { Long, OperatorPage, TablePart, useOperated } from './operator-parts.tsx';

const columns: readonly Column<OperatedAuditEntry>[] = [
  timeColumn('at', 'Time'),
  { id: 'actor', title: 'Who', render: ({ actor }) => <Long text={actor} /> },
  textColumn('source', 'From'),
  textColumn('action', 'Action'),
  {
    id: 'subject',
    title: 'On',
    render: ({ subject, account_id: account }) => <Long text={subject ?? account ?? '—'} />,
  },
  { id: 'detail', title: 'Detail', render: ({ detail }) => detail ?? '' },
];

const commands = {
  'Verify that no entry was changed or taken away:': 'audit verify',
  'All entries:': 'audit export',
};

/** Who changed accounts, tokens, people and what operators change. */
export function RoutePage() {
  const query = useOperated('audit-log', (options) => quittance.operator.auditLog(options));
  return (
    <OperatorPage title="Audit log of all accounts" query={query} commands={commands}>
      {(entries) => (
        <TablePart
          title="The last 200 entries"
          rows={entries}
          columns={columns}
          keyOf={({ position }) => position}
          empty="No entries yet"
        />
      )}
    </OperatorPage>
  );
}
