import { Alert, Button, Code, Group, Paper, Stack, Text, Timeline } from '@mantine/core';
import type { Payout } from '@quittance/client';
import { type ReactNode, useState } from 'react';
import { quittance } from '../../client.ts';
import { useActorName } from '../../parts/account-data.ts';
import { grouped } from '../../parts/decimal.ts';
import { Facts, Loaded, Page, PageLink, Section, Small, usePageId } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { assetName, Copyable, StateBadge, Time } from '../../parts/values.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { stateOf } from './approval.ts';
import { ApprovalNote, DecideButtons, DecideDialog, type Decided } from './decide-payout.tsx';
import { PayoutAttempts } from './payout-attempts.tsx';
import { PayoutFacts } from './payout-facts.tsx';

const PENDING_MS = 4_000;

const isCancelable = ({ status, cancel_requested_at: asked, tx_hash: hash }: Payout): boolean =>
  status === 'pending' && asked === null && hash === null;

/** One payout: what it pays, what it waits for, and what has become of it. */
export function RoutePage() {
  const id = usePageId();
  const query = useRead(['payouts', 'one', id], (options) => quittance.payouts.retrieve(id, options), {
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? PENDING_MS : REFRESH_MS),
  });
  const [decided, setDecided] = useState<Decided>();
  const mayPay = useMay('payouts:write');
  const payout = query.data;
  return (
    <Page
      title={payout ? `Payout of ${grouped(payout.amount)} ${assetName(payout.asset.symbol)}` : 'Payout'}
      back={{ to: '/payouts', label: 'Payouts' }}
      mark={payout && <StateBadge {...stateOf(payout)} />}
      actions={
        payout && (
          <>
            <DecideButtons payout={payout} onDecide={setDecided} />
            {mayPay && isCancelable(payout) && (
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
            <Section title="What has happened">
              <History payout={data} />
            </Section>
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
  const source = payout.deposit_id === null ? 'the balance' : 'the unresolved funds';
  const by = maker === null ? '' : ` by ${actorName(maker)}`;
  const steps: [title: string, at: string | null][] = [
    [`Requested${by}: amount and network fee are held from ${source}`, payout.created_at],
  ];
  for (const { token_id: token, person_id: person, decision, at } of approval?.given ?? [])
    steps.push([
      `${decision === 'approved' ? 'Approved' : 'Rejected'} by ${actorName(person ?? token ?? '')}`,
      at,
    ]);
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
            <Small>
              <Time at={at} />
            </Small>
          )}
        </Timeline.Item>
      ))}
    </Timeline>
  );
}

function More({ payout }: { payout: Payout }) {
  const { metadata, tx_hash: hash, batch_id: batch, invoice_id: invoice, deposit_id: deposit } = payout;
  const link = (place: string, id: string | null): ReactNode =>
    id && <PageLink to={`/${place}/${id}`}>{id}</PageLink>;
  const notes = Object.entries(metadata).map(([name, text]) => (
    <Group key={name} gap={6}>
      <Code>{name}</Code>
      <span>{text}</span>
    </Group>
  ));
  return (
    <Facts
      facts={{
        Id: <Copyable text={String(payout.id)} label="Copy the id" />,
        Transaction: hash && <Copyable text={hash} label="Copy the transaction" />,
        Address: <Copyable text={payout.to_address} label="Copy the address" />,
        'Your reference': payout.external_id,
        Rate: payout.usd_rate && `${grouped(payout.usd_rate)} US dollars when it was requested`,
        Batch: link('payout-batches', batch),
        'Refunded invoice': link('invoices', invoice),
        Refund: payout.refund_id,
        'Returned funds': link('unresolved', deposit),
        'Created by': payout.automatic && <PageLink to="/automatic-payouts">an automatic payout</PageLink>,
        Metadata: notes.length > 0 && <Stack gap={2}>{notes}</Stack>,
      }}
    />
  );
}
