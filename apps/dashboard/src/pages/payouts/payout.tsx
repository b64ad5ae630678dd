import { Alert, Anchor, Button, Code, Group, Paper, Stack, Text, Timeline, Title } from '@mantine/core';
import type { Payout } from '@quittance/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { quittance } from '../../client.ts';
import { useActorName } from '../../parts/account-data.ts';
import { assetName } from '../../parts/amount.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { grouped } from '../../parts/decimal.ts';
import { Facts, Loaded, Page } from '../../parts/page.tsx';
import { usePageId } from '../../parts/page-id.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { stateOf } from './approval.ts';
import { ApprovalNote, DecideButtons, DecideDialog, type Decided } from './decide-payout.tsx';
import { PayoutAttempts } from './payout-attempts.tsx';
import { PayoutFacts } from './payout-facts.tsx';

const PENDING_MS = 4_000;

/** One payout: what it pays, what it waits for, and what has become of it. */
export function RoutePage() {
  const id = usePageId();
  const query = useQuery({
    queryKey: ['payouts', 'one', id],
    queryFn: ({ signal }) => quittance.payouts.retrieve(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? PENDING_MS : REFRESH_MS),
  });
  const [decided, setDecided] = useState<Decided>();
  const mayPay = useMay('payouts:write');
  const payout = query.data;
  const isCancelable =
    mayPay && payout?.status === 'pending' && payout.cancel_requested_at === null && payout.tx_hash === null;
  return (
    <Page
      title={
        payout === undefined
          ? 'Payout'
          : `Payout of ${grouped(payout.amount)} ${assetName(payout.asset.symbol)}`
      }
      back={{ to: '/payouts', label: 'Payouts' }}
      mark={payout && <StateBadge {...stateOf(payout)} />}
      actions={
        payout && (
          <>
            <DecideButtons payout={payout} onDecide={setDecided} />
            {isCancelable && (
              <Button variant="default" onClick={() => setDecided({ payout, decision: 'cancel' })}>
                Cancel
              </Button>
            )}
          </>
        )
      }
    >
      <Loaded query={query}>
        {(data) => (
          <Stack>
            <ApprovalNote payout={data} />
            {data.failed_reason !== '' && (
              <Alert color="red" title="It failed">
                {data.failed_reason} {returned(data)}
              </Alert>
            )}
            <Paper withBorder p="md">
              <PayoutFacts payout={data} />
            </Paper>
            <Paper withBorder p="md">
              <Title order={2} size="h4" mb="sm">
                What has happened
              </Title>
              <History payout={data} />
            </Paper>
            <PayoutAttempts payout={data} />
            <Paper withBorder p="md">
              <More payout={data} />
            </Paper>
          </Stack>
        )}
      </Loaded>
      <DecideDialog decided={decided} onClose={() => setDecided(undefined)} />
    </Page>
  );
}

const returned = ({ tx_hash: hash, deposit_id: deposit }: Payout): string =>
  deposit !== null
    ? 'The funds are unresolved again.'
    : hash === null
      ? 'Amount and fee have returned to the balance.'
      : 'The amount has returned to the balance, and the network fee too unless the chain has taken it.';

/** What the API tells of it, oldest first. */
function History({ payout }: { payout: Payout }) {
  const actorName = useActorName();
  const { approval, status, tx_hash: hash } = payout;
  const maker = approval?.requested_by ?? null;
  const steps: [title: ReactNode, at: string | null][] = [
    [
      <>
        Requested{maker !== null && ` by ${actorName(maker)}`}: amount and network fee are held from{' '}
        {payout.deposit_id === null ? 'the balance' : 'the unresolved funds'}
      </>,
      payout.created_at,
    ],
    ...(approval?.given ?? []).map(
      ({ token_id: token, person_id: person, decision, at }): [string, string] => [
        `${decision === 'approved' ? 'Approved' : 'Rejected'} by ${actorName(person ?? token ?? '')}`,
        at,
      ],
    ),
  ];
  if (approval?.status === 'waiting') steps.push(['Waits for approval', null]);
  if (payout.cancel_requested_at !== null)
    steps.push(['Shall not be sent any more', payout.cancel_requested_at]);
  if (status === 'mined') steps.push(['Mined: the recipient has it', payout.completed_at]);
  if (status === 'failed') steps.push(['Failed', payout.failed_at]);
  if (status === 'pending' && hash !== null)
    steps.push(['Sent: waits for a block, and then for confirmations', null]);
  if (status === 'pending' && hash === null && approval?.status !== 'waiting')
    steps.push(['Waits to be signed and sent', null]);
  return (
    <Timeline active={steps.findLastIndex(([, at]) => at !== null)} bulletSize={16} lineWidth={2}>
      {steps.map(([title, at], place) => (
        <Timeline.Item key={place} title={<Text size="sm">{title}</Text>}>
          {at !== null && (
            <Text size="xs" c="dimmed">
              <Time at={at} />
            </Text>
          )}
        </Timeline.Item>
      ))}
    </Timeline>
  );
}

function More({ payout }: { payout: Payout }) {
  const { metadata, tx_hash: hash, batch_id: batch, invoice_id: invoice, deposit_id: deposit } = payout;
  const notes = Object.entries(metadata);
  const link = (to: string, text: string) => (
    <Anchor component={Link} to={to} inherit key={to}>
      {text}
    </Anchor>
  );
  return (
    <Facts
      facts={[
        ['Id', <Copyable key="id" text={String(payout.id)} label="Copy the id" />],
        ['Transaction', hash && <Copyable key="tx" text={hash} label="Copy the transaction" />],
        ['Address', <Copyable key="to" text={payout.to_address} label="Copy the address" />],
        ['Your reference', payout.external_id],
        ['Rate', payout.usd_rate && `${grouped(payout.usd_rate)} US dollars when it was requested`],
        ['Batch', batch && link(`/payout-batches/${batch}`, batch)],
        ['Refunded invoice', invoice && link(`/invoices/${invoice}`, invoice)],
        ['Refund', payout.refund_id],
        ['Returned funds', deposit && link(`/unresolved/${deposit}`, deposit)],
        ['Created by', payout.automatic ? link('/automatic-payouts', 'an automatic payout') : null],
        [
          'Metadata',
          notes.length === 0 ? null : (
            <Stack gap={2} key="metadata">
              {notes.map(([name, text]) => (
                <Group key={name} gap={6}>
                  <Code>{name}</Code>
                  <span>{text}</span>
                </Group>
              ))}
            </Stack>
          ),
        ],
      ]}
    />
  );
}
