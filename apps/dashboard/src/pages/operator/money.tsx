import { Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import type { OperatedQueue, OperatedSweep, OperatedWallet, StalledPayout } from '@quittance/client';
import { quittance } from '../../client.ts';
import { Amount, assetName } from '../../parts/amount.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { Facts, Loaded, Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { ageOf } from './durations.ts';
import { ByCommand, Mark, Part, Rows, Shortened, type TableColumn, useOperated } from './operator-parts.tsx';

/** Hot wallets with their float, the payouts that wait, and sweeps. */
export function RoutePage() {
  const query = useOperated('payouts', (options) => quittance.operator.payouts(options));
  return (
    <Page title="Wallets and queues">
      <Loaded query={query}>
        {({ wallets, queues, stalled, sweeps, paused_assets }) => (
          <Stack gap="xl">
            <Part
              title="Hot wallets"
              text="What can be paid at once, and what lies on deposit addresses and is swept when it is needed. Keep only what payouts need."
            >
              <SimpleGrid cols={{ base: 1, md: 2 }}>
                {wallets.map((wallet) => (
                  <Wallet key={wallet.chain} wallet={wallet} paused={paused_assets} />
                ))}
              </SimpleGrid>
            </Part>
            <Part title="Payouts that have not ended">
              <Rows
                rows={queues}
                columns={queueColumns}
                keyOf={({ asset, status }) => `${asset} ${status}`}
                empty="No payout is open"
              />
            </Part>
            <Part
              title="Stalled payouts"
              text="They are pending for longer than their chain takes when everything works."
            >
              <Rows rows={stalled} columns={stalledColumns} keyOf={({ id }) => id} empty="None is stalled" />
            </Part>
            <Part title="Last sweeps">
              <Rows
                rows={sweeps}
                columns={sweepColumns}
                keyOf={({ id }) => id}
                empty="Nothing was swept lately"
              />
            </Part>
            <ByCommand
              commands={[
                ['The full history of a payout, in all services:', 'payouts show 3059051053761981'],
                [
                  'Note that the operator has taken money from a hot wallet:',
                  'funds withdrawn --asset ETH --amount 1.5',
                ],
              ]}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function Wallet({ wallet, paused }: { wallet: OperatedWallet; paused: readonly string[] }) {
  const { chain, hot_address, signing_paused, has_leader, float } = wallet;
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Group justify="space-between">
          <Text fw={600}>{chain}</Text>
          <Group gap="xs">
            <Mark good={has_leader} label={has_leader ? 'a replica pays' : 'no replica pays'} />
            {signing_paused !== null && <Mark good={false} label="signing is paused" />}
          </Group>
        </Group>
        <Copyable text={hot_address} label="Copy the address" />
        {signing_paused !== null && (
          <Text size="sm" c="red">
            {signing_paused}
          </Text>
        )}
        <Facts
          facts={float.map(({ asset, balance, unswept }) => [
            assetName(asset),
            <Stack key={asset} gap={2}>
              {balance === null ? (
                <Text size="sm" c="dimmed">
                  its node does not answer
                </Text>
              ) : (
                <Amount value={balance} asset={asset} />
              )}
              {unswept !== '0' && (
                <Text size="xs" c="dimmed">
                  and <Amount value={unswept} asset={asset} /> to be swept
                </Text>
              )}
              {paused.includes(asset) && <Mark good={false} label="payouts are paused" />}
            </Stack>,
          ])}
        />
      </Stack>
    </Paper>
  );
}

/** As payouts names its states, in words. */
const stateNames: Readonly<Record<string, string>> = {
  requested: 'waiting for the ledger',
  awaiting_approval: 'waiting for an approval',
  reserved: 'waiting to be signed',
  planned: 'being signed',
  signed: 'signed',
  broadcast: 'sent, not confirmed',
};
const stateName = (status: string): string => stateNames[status] ?? status;

const queueColumns: readonly TableColumn<OperatedQueue>[] = [
  { title: 'Asset', render: ({ asset }) => assetName(asset) },
  { title: 'State', render: ({ status }) => stateName(status) },
  { title: 'Payouts', align: 'right', render: ({ payouts }) => payouts },
  { title: 'The oldest', render: ({ oldest_at }) => `${ageOf(oldest_at, new Date())} ago` },
];

const stalledColumns: readonly TableColumn<StalledPayout>[] = [
  { title: 'Payout', render: ({ id }) => id },
  { title: 'Amount', align: 'right', render: ({ amount, asset }) => <Amount value={amount} asset={asset} /> },
  { title: 'State', render: ({ status }) => stateName(status) },
  { title: 'The signer refuses it', render: ({ refused_because }) => refused_because ?? '—' },
  { title: 'Requested', render: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Account', render: ({ account_id }) => <Shortened text={account_id} label="Copy the id" /> },
];

const sweepColumns: readonly TableColumn<OperatedSweep>[] = [
  { title: 'Chain', render: ({ chain }) => chain },
  { title: 'Amount', align: 'right', render: ({ amount, asset }) => <Amount value={amount} asset={asset} /> },
  { title: 'State', render: ({ state }) => state },
  { title: 'At', render: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Transaction', render: ({ tx_hash }) => <Shortened text={tx_hash} label="Copy the hash" /> },
];
