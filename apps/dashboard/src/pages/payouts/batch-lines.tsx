import { Box, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { useAddressBook, usePayoutPolicy } from '../../parts/account-data.ts';
import { grouped } from '../../parts/decimal.ts';
import { chainOf } from '../../parts/networks.ts';
import { type Column, PagedRows, textColumn } from '../../parts/table.tsx';
import { Address } from '../../parts/values.tsx';
import type { BatchLine } from './batch-file.ts';
import { policyNotes } from './policy-notes.ts';

type Props = {
  lines: readonly BatchLine[];
  /** What the API has said of each line. */
  refused: ReadonlyMap<number, readonly string[]> | undefined;
};

type Remark = { text: string; color: 'red' | 'dimmed' };
type Shown = BatchLine & { remarks: Remark[] };

const columns: readonly Column<Shown>[] = [
  textColumn('line', 'Line'),
  { id: 'asset', title: 'Asset', render: ({ asset }) => asset },
  {
    id: 'amount',
    title: 'Amount',
    align: 'right',
    render: ({ amount }) => (/^\d+(?:\.\d+)?$/.test(amount) ? grouped(amount) : amount),
  },
  {
    id: 'address',
    title: 'Address',
    render: ({ address }) => (
      <Box miw={180}>
        <Address address={address} />
      </Box>
    ),
  },
  {
    id: 'external_id',
    title: 'Your reference',
    render: ({ external_id: reference }) => <span style={{ overflowWrap: 'anywhere' }}>{reference}</span>,
  },
  {
    id: 'remarks',
    title: 'Remarks',
    render: ({ remarks }) =>
      (remarks.length === 0 ? [{ text: 'nothing wrong', color: 'dimmed' }] : remarks).map(
        ({ text, color }) => (
          <Text key={text} size="sm" c={color} miw={180}>
            {text}
          </Text>
        ),
      ),
  },
];

/** The lines of a file, each with what is wrong with it and what the payout policy will do with it. */
export function BatchLines({ lines, refused }: Props) {
  const { data: policy } = usePayoutPolicy();
  const { data: book } = useAddressBook();
  const [onlyWrong, setOnlyWrong] = useState(false);
  const now = Date.now();
  const remarksOf = (line: BatchLine): Remark[] => {
    const problems = [...line.problems, ...(refused?.get(line.line) ?? [])];
    if (problems.length > 0) return problems.map((text) => ({ text, color: 'red' }));
    if (policy === undefined) return [];
    return policyNotes(policy, book, line, chainOf(line.asset), now)
      .filter(({ kind }) => kind !== 'limited')
      .map(({ kind, text }) => ({ text, color: kind === 'refused' ? 'red' : 'dimmed' }));
  };
  const all: Shown[] = lines.map((line) => ({ ...line, remarks: remarksOf(line) }));
  const wrong = all.filter(({ remarks }) => remarks.length > 0);
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
        columns={columns}
        keyOf={({ line }) => line}
        minWidth={300}
      />
    </Stack>
  );
}
