import { Alert, Button, Paper, Stack, Table, Text, Title } from '@mantine/core';
import type { PayoutPolicy } from '@quittance/client';
import { type ReactNode, useState } from 'react';
import { usePayoutPolicy } from '../../parts/account-data.ts';
import { Amount, assetName } from '../../parts/amount.tsx';
import { Facts, Loaded, Page } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session/session.ts';
import { PolicyForm } from './policy-form.tsx';

/** What the account allows of its payouts. */
export function RoutePage() {
  const query = usePayoutPolicy();
  const mayWrite = useMay('policy:write');
  const [isEditing, setEditing] = useState(false);
  return (
    <Page
      title="Payout policy"
      actions={
        mayWrite &&
        !isEditing &&
        query.data !== undefined && <Button onClick={() => setEditing(true)}>Change</Button>
      }
    >
      <Loaded query={query}>
        {(policy) =>
          isEditing ? (
            <PolicyForm policy={policy} onDone={() => setEditing(false)} />
          ) : (
            <Stack>
              {policy.updated_at === null && (
                <Alert color="blue" title="There is no policy yet">
                  Nothing is limited: whoever may request payouts may pay any amount to any address. The first
                  policy is in force at once.
                </Alert>
              )}
              <Rules title="In force" policy={policy} />
              {policy.next !== null && (
                <Rules
                  title={
                    <>
                      From <Time at={policy.next.takes_effect_at} />
                    </>
                  }
                  text="It allows more, so it waits. Until then the stricter of the two counts in each field."
                  policy={policy.next}
                />
              )}
              {policy.updated_at !== null && (
                <Text size="xs" c="dimmed">
                  Last changed on <Time at={policy.updated_at} />
                </Text>
              )}
            </Stack>
          )
        }
      </Loaded>
    </Page>
  );
}

type Shown = Pick<PayoutPolicy, 'allow_list' | 'delay_hours' | 'limits'>;

function Rules({ title, text, policy }: { title: ReactNode; text?: string; policy: Shown }) {
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {text !== undefined && (
        <Text size="sm" mb="sm">
          {text}
        </Text>
      )}
      <Facts
        facts={[
          ['Payouts go', policy.allow_list ? 'to the address book alone' : 'to any address'],
          [
            'Delay',
            policy.delay_hours === 0
              ? 'none: new addresses and looser rules are in force at once'
              : `${policy.delay_hours} hours for new addresses, and for rules that allow more`,
          ],
          ['Limits', policy.limits.length === 0 ? 'none' : null],
        ]}
      />
      {policy.limits.length > 0 && (
        <ScrollTable minWidth={520} mt="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Asset</Table.Th>
              <Table.Th ta="right">One payout</Table.Th>
              <Table.Th ta="right">In 24 hours</Table.Th>
              <Table.Th ta="right">Approval above</Table.Th>
              <Table.Th ta="right">Approvals</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {policy.limits.map((limit) => (
              <Table.Tr key={limit.asset}>
                <Table.Td>{assetName(limit.asset)}</Table.Td>
                {(['per_payout', 'per_24h', 'approval_above'] as const).map((field) => (
                  <Table.Td key={field} ta="right">
                    {limit[field] === null ? '—' : <Amount value={limit[field]} asset={limit.asset} />}
                  </Table.Td>
                ))}
                <Table.Td ta="right">{limit.approvals ?? '—'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </ScrollTable>
      )}
    </Paper>
  );
}
