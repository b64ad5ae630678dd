import { Alert, Button, Paper, Stack, Text } from '@mantine/core';
import type { PayoutPolicy } from '@quittance/client';
import { type ReactNode, useState } from 'react';
import { usePayoutPolicy } from '../../parts/account-data.ts';
import { Facts, Heading, Loaded, Page, Small } from '../../parts/page.tsx';
import { type Column, Rows, textColumn } from '../../parts/table.tsx';
import { Amount, assetName, Time } from '../../parts/values.tsx';
import { useMay } from '../../session/session.ts';
import { PolicyForm } from './policy-form.tsx';

type Limit = PayoutPolicy['limits'][number];

const amount = (id: 'per_payout' | 'per_24h' | 'approval_above', title: string): Column<Limit> => ({
  ...{ id, title, align: 'right' },
  render: ({ [id]: limit, asset }) => (limit === null ? '—' : <Amount value={limit} asset={asset} />),
});

const columns: readonly Column<Limit>[] = [
  { id: 'asset', title: 'Asset', render: ({ asset }) => assetName(asset) },
  amount('per_payout', 'One payout'),
  amount('per_24h', 'In 24 hours'),
  amount('approval_above', 'Approval above'),
  textColumn('approvals', 'Approvals', { align: 'right' }),
];

/** What the account allows of its payouts. */
export function RoutePage() {
  const query = usePayoutPolicy();
  const mayWrite = useMay('policy:write');
  const [isEditing, setEditing] = useState(false);
  const isChangeable = mayWrite && !isEditing && query.data !== undefined;
  return (
    <Page
      title="Payout policy"
      actions={isChangeable && <Button onClick={() => setEditing(true)}>Change</Button>}
    >
      <Loaded query={query}>
        {(policy) =>
          isEditing ? (
            <PolicyForm policy={policy} onDone={() => setEditing(false)} />
          ) : (
            <Policy policy={policy} />
          )
        }
      </Loaded>
    </Page>
  );
}

const Policy = ({ policy: { updated_at: changed, next, ...policy } }: { policy: PayoutPolicy }) => (
  <Stack>
    {changed === null && (
      <Alert color="blue" title="There is no policy yet">
        Nothing is limited: whoever may request payouts may pay any amount to any address. The first policy is
        in force at once.
      </Alert>
    )}
    <Rules title="In force" policy={policy} />
    {next !== null && (
      <Rules
        title={
          <>
            From <Time at={next.takes_effect_at} />
          </>
        }
        text="It allows more, so it waits. Until then the stricter of the two counts in each field."
        policy={next}
      />
    )}
    {changed !== null && (
      <Small>
        Last changed on <Time at={changed} />
      </Small>
    )}
  </Stack>
);

type RulesProps = {
  title: ReactNode;
  text?: string;
  policy: Pick<PayoutPolicy, 'allow_list' | 'delay_hours' | 'limits'>;
};

const Rules = ({ title, text, policy: { allow_list: isListed, delay_hours: delay, limits } }: RulesProps) => (
  <Paper withBorder p="md">
    <Stack gap="sm">
      <Heading>{title}</Heading>
      {text !== undefined && <Text size="sm">{text}</Text>}
      <Facts
        facts={{
          'Payouts go': isListed ? 'to the address book alone' : 'to any address',
          Delay:
            delay === 0
              ? 'none: new addresses and looser rules are in force at once'
              : `${delay} hours for new addresses, and for rules that allow more`,
          Limits: limits.length === 0 && 'none',
        }}
      />
      {limits.length > 0 && (
        <Rows rows={limits} columns={columns} keyOf={({ asset }) => asset} minWidth={520} />
      )}
    </Stack>
  </Paper>
);
