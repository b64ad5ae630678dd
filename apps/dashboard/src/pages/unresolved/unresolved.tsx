import { Anchor, Group, Stack, Text } from '@mantine/core';
import type { UnresolvedFunds } from '@quittance/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { Amount, assetName } from '../../parts/amount.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { grouped } from '../../parts/decimal.ts';
import { Facts, Loaded, Page } from '../../parts/page.tsx';
import { usePageId } from '../../parts/page-id.ts';
import { Section } from '../../parts/section.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { reasonText } from './reason.ts';
import { ReturnButton } from './return-button.tsx';

export function RoutePage() {
  const id = usePageId();
  const query = useQuery({
    queryKey: ['unresolved', id],
    queryFn: ({ signal }) => quittance.unresolved.retrieve(id, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const funds = query.data;
  return (
    <Page
      title={
        funds === undefined ? 'Unresolved funds' : `${grouped(funds.amount)} ${assetName(funds.asset.symbol)}`
      }
      back={{ to: '/unresolved', label: 'Unresolved funds' }}
      mark={funds !== undefined && <StateBadge state={funds.status} />}
      actions={funds !== undefined && <Decision funds={funds} />}
    >
      <Loaded query={query}>{(found) => <Details funds={found} />}</Loaded>
    </Page>
  );
}

/** What the merchant decides, once. */
function Decision({ funds }: { funds: UnresolvedFunds }) {
  const client = useQueryClient();
  if (!useMay('unresolved:write')) return null;
  const readAgain = () =>
    Promise.all(
      ['unresolved', 'invoices', 'balances', 'balance-transactions'].map((list) =>
        client.invalidateQueries({ queryKey: [list] }),
      ),
    );
  return (
    <>
      {funds.status === 'open' && (
        <ConfirmButton
          label="Accept"
          title="Accept into the balance"
          variant="filled"
          color="quittance"
          act={() => quittance.unresolved.accept(funds.id)}
          onDone={readAgain}
        >
          <Amount value={funds.amount} asset={funds.asset.symbol} fw={600} /> is credited to the balance. The
          invoice keeps its status. This is decided once: to pay it back later, refund the invoice or create a
          payout.
        </ConfirmButton>
      )}
      <ReturnButton funds={funds} />
    </>
  );
}

function Details({ funds }: { funds: UnresolvedFunds }) {
  const { asset, invoice_id: invoice, payout_id: payout, tx_hash: hash } = funds;
  const amount = (value: string) =>
    value === '0' ? undefined : <Amount value={value} asset={asset.symbol} />;
  return (
    <Stack>
      {funds.status === 'open' && (
        <Text>
          {reasonText(funds.reason)} It belongs to you, and is in no balance until you accept it or return it
          to your customer.
        </Text>
      )}
      <Section title="Funds">
        <Facts
          facts={[
            ['Left', amount(funds.amount)],
            ['Being returned in parts', amount(funds.returning_amount)],
            ['Returned in parts', amount(funds.returned_amount)],
            ['Why', reasonText(funds.reason)],
            [
              'Invoice',
              invoice === null ? undefined : (
                <Anchor key="invoice" component={Link} to={`/invoices/${invoice}`} inherit>
                  {invoice}
                </Anchor>
              ),
            ],
            [
              'Payout',
              payout === null ? undefined : (
                <Anchor key="payout" component={Link} to={`/payouts/${payout}`} inherit>
                  {payout}
                </Anchor>
              ),
            ],
            [
              'Transaction',
              hash === null ? undefined : <Copyable key="hash" text={hash} label="Copy the hash" />,
            ],
            ['Id', <Copyable key="id" text={funds.id} label="Copy the id" />],
            ['Received', <Time key="received" at={funds.created_at} />],
            [
              'Decided',
              funds.resolved_at === null ? undefined : <Time key="decided" at={funds.resolved_at} />,
            ],
          ]}
        />
      </Section>
      <Returns funds={funds} />
    </Stack>
  );
}

/** Claim links and payouts that return the funds, or parts of them. */
function Returns({ funds: { id } }: { funds: UnresolvedFunds }) {
  const payouts = useQuery({
    queryKey: ['payouts', { deposit_id: id }],
    queryFn: ({ signal }) => Array.fromAsync(quittance.payouts.list({ deposit_id: id }, { signal })),
    enabled: useMay('payouts:read'),
  });
  const links = useQuery({
    queryKey: ['refunds', { deposit_id: id }],
    queryFn: ({ signal }) => Array.fromAsync(quittance.refunds.list({ deposit_id: id }, { signal })),
    enabled: useMay('refunds:read'),
  });
  const rows = [
    ...(links.data ?? []).map((link) => ({ ...link, key: link.id, what: 'Claim link', to: undefined })),
    ...(payouts.data ?? []).map((payout) => ({
      ...payout,
      key: String(payout.id),
      what: `Payout ${payout.id}`,
      to: `/payouts/${payout.id}`,
    })),
  ];
  if (rows.length === 0) return null;
  return (
    <Section title="Returns">
      {rows.map(({ key, what, to, amount, asset, status, created_at }) => (
        <Group key={key} gap="xs">
          {to === undefined ? (
            <Text size="sm">{what}</Text>
          ) : (
            <Anchor component={Link} to={to} size="sm">
              {what}
            </Anchor>
          )}
          <Amount value={amount} asset={asset.symbol} size="sm" />
          <StateBadge state={status} />
          <Text size="sm" c="dimmed">
            <Time at={created_at} />
          </Text>
        </Group>
      ))}
    </Section>
  );
}
