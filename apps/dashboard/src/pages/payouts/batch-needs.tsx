import { Alert, Paper, Stack, Text } from '@mantine/core';
import type { Balance, PayoutBatch } from '@quittance/client';
import { compare, grouped, subtract } from '../../parts/decimal.ts';
import { type Column, Rows, textColumn } from '../../parts/table.tsx';
import { Amount, assetName } from '../../parts/values.tsx';
import type { BatchTotal } from './batch-file.ts';

/** What a batch needs of one asset, and what the balance has. */
export type BatchNeed = BatchTotal & { balance: string; after: string };

export const needsOf = (totals: readonly BatchTotal[], balances: readonly Balance[]): BatchNeed[] =>
  totals.map((total) => {
    const balance = balances.find(({ asset }) => asset.symbol === total.asset)?.balance ?? '0';
    return { ...total, balance, after: subtract(balance, total.total) };
  });

const isShort = ({ after }: BatchNeed): boolean => compare(after, '0') < 0;

const amount = (id: 'amount' | 'fee' | 'total' | 'balance' | 'after', title: string): Column<BatchNeed> => ({
  ...{ id, title, align: 'right' },
  render: (need) => (
    <Text
      inherit
      component="span"
      c={id === 'after' && isShort(need) ? 'red' : undefined}
      fw={id === 'total' || (id === 'after' && isShort(need)) ? 600 : undefined}
    >
      {grouped(need[id])}
    </Text>
  ),
});

const columns: readonly Column<BatchNeed>[] = [
  { id: 'asset', title: 'Asset', render: ({ asset }) => assetName(asset) },
  textColumn('count', 'Payouts', { align: 'right' }),
  amount('amount', 'Amount'),
  amount('fee', 'Network fees now'),
  amount('total', 'Total'),
  amount('balance', 'Balance'),
  amount('after', 'Balance after'),
];

/** What the lines need together, against the balance. */
export function BatchNeeds({ needs, mode }: { needs: readonly BatchNeed[]; mode: PayoutBatch['mode'] }) {
  if (needs.length === 0) return null;
  const short = needs.filter(isShort);
  return (
    <Stack gap="xs">
      <Paper withBorder>
        <Rows rows={needs} columns={columns} keyOf={({ asset }) => asset} minWidth={560} />
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
