import { Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import type { OperatedQueue, OperatedSweep, OperatedWallet, StalledPayout } from '@quittance/client';
import { quittance } from '../../client.ts';
import { Facts, Note, Small } from '../../parts/page.tsx';
import { amountColumn, type Column, textColumn, timeColumn } from '../../parts/table.tsx';
import { Amount, assetName, Copyable, Shortened } from '../../parts/values.tsx';
import { ageOf } from './durations.ts';
import { Mark, OperatorPage, Part, TablePart, useOperated } from './operator-parts.tsx';

/** As payouts names its states, in words. */
const stateNames: Readonly<Record<string, string>> = {
  requested: 'waiting for the ledger',
  awaiting_approval: 'waiting for an approval',
  reserved: 'waiting to be signed',
  planned: 'being signed',
  signed: 'signed',
  broadcast: 'sent, not confirmed',
};
const stateColumn: Column<{ status: string }> = {
  id: 'status',
  title: 'State',
  render: ({ status }) => stateNames[status] ?? status,
};

const queueColumns: readonly Column<OperatedQueue>[] = [
  { id: 'asset', title: 'Asset', render: ({ asset }) => assetName(asset) },
  stateColumn,
  textColumn('payouts', 'Payouts', { align: 'right' }),
  { id: 'oldest_at', title: 'The oldest', render: ({ oldest_at: at }) => `${ageOf(at, new Date())} ago` },
];

const stalledColumns: readonly Column<StalledPayout>[] = [
  textColumn('id', 'Payout'),
  amountColumn('amount', 'Amount'),
  stateColumn,
  textColumn('refused_because', 'The signer refuses it'),
  timeColumn('created_at', 'Requested'),
  {
    id: 'account_id',
    title: 'Account',
    render: ({ account_id: id }) => <Shortened text={id} label="Copy the id" />,
  },
];

const sweepColumns: readonly Column<OperatedSweep>[] = [
  textColumn('chain', 'Chain'),
  amountColumn('amount', 'Amount'),
  textColumn('state', 'State'),
  timeColumn('created_at', 'At'),
  {
    id: 'tx_hash',
    title: 'Transaction',
    render: ({ tx_hash: hash }) => <Shortened text={hash} label="Copy the hash" />,
  },
];

const commands = {
  'The full history of a payout, in all services:': 'payouts show 3059051053761981',
  'Note that the operator has taken money from a hot wallet:': 'funds withdrawn --asset ETH --amount 1.5',
};

/** Hot wallets with their float, the payouts that wait, and sweeps. */
export function RoutePage() {
  const query = useOperated('payouts', (options) => quittance.operator.payouts(options));
  return (
    <OperatorPage title="Wallets and queues" query={query} commands={commands}>
      {({ wallets, queues, stalled, sweeps, paused_assets }) => (
        <>
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
          <TablePart
            title="Payouts that have not ended"
            rows={queues}
            columns={queueColumns}
            keyOf={({ asset, status }) => `${asset} ${status}`}
            empty="No payout is open"
          />
          <TablePart
            title="Stalled payouts"
            text="They are pending for longer than their chain takes when everything works."
            rows={stalled}
            columns={stalledColumns}
            keyOf={({ id }) => id}
            empty="None is stalled"
          />
          <TablePart
            title="Last sweeps"
            rows={sweeps}
            columns={sweepColumns}
            keyOf={({ id }) => id}
            empty="Nothing was swept lately"
          />
        </>
      )}
    </OperatorPage>
  );
}

function Wallet({ wallet, paused }: { wallet: OperatedWallet; paused: readonly string[] }) {
  const { chain, hot_address, signing_paused, has_leader, float } = wallet;
  const shown = ({ asset, balance, unswept }: OperatedWallet['float'][number]) => (
    <Stack gap={2}>
      {balance === null ? <Note>its node does not answer</Note> : <Amount value={balance} asset={asset} />}
      {unswept !== '0' && (
        <Small>
          and <Amount value={unswept} asset={asset} /> to be swept
        </Small>
      )}
      {paused.includes(asset) && <Mark good={false} label="payouts are paused" />}
    </Stack>
  );
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
        {signing_paused !== null && <Note c="red">{signing_paused}</Note>}
        <Facts facts={Object.fromEntries(float.map((one) => [assetName(one.asset), shown(one)]))} />
      </Stack>
    </Paper>
  );
}
