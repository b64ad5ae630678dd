import { Stack, Switch, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useAddressBook, usePayoutPolicy } from '../../parts/account-data.ts';
import { Address } from '../../parts/address.tsx';
import { grouped } from '../../parts/decimal.ts';
import { chainOf } from '../../parts/networks.ts';
import { PagedRows } from '../../parts/paged-rows.tsx';
import type { BatchLine } from './batch-file.ts';
import { type PolicyNote, policyNotes } from './policy-notes.ts';

type Props = {
  lines: readonly BatchLine[];
  /** What the API has said of each line. */
  refused: ReadonlyMap<number, readonly string[]> | undefined;
};

type Shown = BatchLine & { notes: PolicyNote[] };

/** The lines of a file, each with what is wrong with it and what the payout policy will do with it. */
export function BatchLines({ lines, refused }: Props) {
  const { data: policy } = usePayoutPolicy();
  const { data: book } = useAddressBook();
  const [onlyWrong, setOnlyWrong] = useState(false);
  const now = Date.now();
  const all: Shown[] = lines.map((line) => {
    const problems = [...line.problems, ...(refused?.get(line.line) ?? [])];
    const isRead = problems.length === 0 && policy !== undefined;
    const notes = isRead ? policyNotes(policy, book, line, chainOf(line.asset), now) : [];
    return { ...line, problems, notes: notes.filter(({ kind }) => kind !== 'limited') };
  });
  const wrong = all.filter(({ problems, notes }) => problems.length > 0 || notes.length > 0);
  return (
    <Stack gap="xs">
      {wrong.length > 0 && wrong.length < all.length && (
        <Switch
          label={`Only lines with a remark (${wrong.length})`}
          checked={onlyWrong}
          onChange={({ currentTarget }) => setOnlyWrong(currentTarget.checked)}
        />
      )}
      <PagedRows
        key={String(onlyWrong)}
        rows={onlyWrong && wrong.length > 0 ? wrong : all}
        head={
          <Table.Tr>
            <Table.Th>Line</Table.Th>
            <Table.Th>Asset</Table.Th>
            <Table.Th ta="right">Amount</Table.Th>
            <Table.Th>Address</Table.Th>
            <Table.Th>Your reference</Table.Th>
            <Table.Th>Remarks</Table.Th>
          </Table.Tr>
        }
        row={(line) => <LineRow key={line.line} line={line} />}
      />
    </Stack>
  );
}

const LineRow = ({ line }: { line: Shown }) => (
  <Table.Tr>
    <Table.Td>{line.line}</Table.Td>
    <Table.Td>{line.asset}</Table.Td>
    <Table.Td ta="right" style={{ fontVariantNumeric: 'tabular-nums' }}>
      {/^\d+(?:\.\d+)?$/.test(line.amount) ? grouped(line.amount) : line.amount}
    </Table.Td>
    <Table.Td miw={180}>
      <Address address={line.address} />
    </Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>{line.external_id}</Table.Td>
    <Table.Td miw={180}>
      {line.problems.map((problem) => (
        <Text key={problem} size="sm" c="red">
          {problem}
        </Text>
      ))}
      {line.notes.map(({ text, kind }) => (
        <Text key={text} size="sm" c={kind === 'refused' ? 'red' : 'dimmed'}>
          {text}
        </Text>
      ))}
      {line.problems.length === 0 && line.notes.length === 0 && (
        <Text size="sm" c="dimmed">
          nothing wrong
        </Text>
      )}
    </Table.Td>
  </Table.Tr>
);
