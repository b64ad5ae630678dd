import { Alert, Paper, Stack, Table, Text } from '@mantine/core';
import type { Balance, PayoutBatch } from '@quittance/client';
import { Amount, assetName } from '../../parts/amount.tsx';
import { compare, grouped, subtract } from '../../parts/decimal.ts';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import type { BatchTotal } from './batch-file.ts';

/** What a batch needs of one asset, and what the balance has. */
export type BatchNeed = BatchTotal & { balance: string; after: string };

export const needsOf = (totals: readonly BatchTotal[], balances: readonly Balance[]): BatchNeed[] =>
  totals.map((total) => {
    const balance = balances.find(({ asset }) => asset.symbol === total.asset)?.balance ?? '0';
    return { ...total, balance, after: subtract(balance, total.total) };
  });

/** What the lines need together, against the balance. */
export function BatchNeeds({ needs, mode }: { needs: readonly BatchNeed[]; mode: PayoutBatch['mode'] }) {
  if (needs.length === 0) return null;
  const short = needs.filter(({ after }) => compare(after, '0') < 0);
  return (
    <Stack gap="xs">
      <Paper withBorder>
        <ScrollTable minWidth={560}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Asset</Table.Th>
              <Table.Th ta="right">Payouts</Table.Th>
              <Table.Th ta="right">Amount</Table.Th>
              <Table.Th ta="right">Network fees now</Table.Th>
              <Table.Th ta="right">Total</Table.Th>
              <Table.Th ta="right">Balance</Table.Th>
              <Table.Th ta="right">Balance after</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody style={{ fontVariantNumeric: 'tabular-nums' }}>
            {needs.map(({ asset, count, amount, fee, total, balance, after }) => (
              <Table.Tr key={asset}>
                <Table.Td>{assetName(asset)}</Table.Td>
                <Table.Td ta="right">{count}</Table.Td>
                <Table.Td ta="right">{grouped(amount)}</Table.Td>
                <Table.Td ta="right">{grouped(fee)}</Table.Td>
                <Table.Td ta="right" fw={600}>
                  {grouped(total)}
                </Table.Td>
                <Table.Td ta="right">{grouped(balance)}</Table.Td>
                <Table.Td ta="right">
                  <Text inherit component="span" {...(compare(after, '0') < 0 && { c: 'red', fw: 600 })}>
                    {grouped(after)}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </ScrollTable>
      </Paper>
      {short.length > 0 && (
        <Alert color={mode === 'each' ? 'yellow' : 'red'} title="The balance does not cover all lines">
          {short.map(({ asset, after }) => (
            <Text size="sm" key={asset}>
              <Amount value={subtract('0', after)} asset={asset} /> are missing.
            </Text>
          ))}
          {mode === 'each' && (
            <Text size="sm">
              The lines are paid in their order, and those that are not covered are refused.
            </Text>
          )}
        </Alert>
      )}
    </Stack>
  );
}
