import { Group, Stack, Text } from '@mantine/core';
import type { UnresolvedFunds } from '@quittance/client';
import { quittance } from '../../client.ts';
import { grouped } from '../../parts/decimal.ts';
import { ConfirmButton } from '../../parts/dialogs.tsx';
import { Facts, Loaded, Note, Page, PageLink, Section, usePageId } from '../../parts/page.tsx';
import { useAllowed, useLive } from '../../parts/reading.ts';
import { Amount, assetName, Copyable, StateBadge, Time } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { reasonText } from './reason.ts';
import { ReturnButton } from './return-button.tsx';

export function RoutePage() {
  const id = usePageId();
  const query = useLive(['unresolved', id], (options) => quittance.unresolved.retrieve(id, options));
  const funds = query.data;
  return (
    <Page
      title={funds ? `${grouped(funds.amount)} ${assetName(funds.asset.symbol)}` : 'Unresolved funds'}
      back={{ to: '/unresolved', label: 'Unresolved funds' }}
      mark={funds && <StateBadge state={funds.status} />}
      actions={funds && <Decision funds={funds} />}
    >
      <Loaded query={query}>{(found) => <Details funds={found} />}</Loaded>
    </Page>
  );
}

/** What the merchant decides, once. */
function Decision({ funds }: { funds: UnresolvedFunds }) {
  if (!useMay('unresolved:write')) return null;
  return (
    <>
      {funds.status === 'open' && (
        <ConfirmButton
          label="Accept"
          title="Accept into the balance"
          variant="filled"
          color="quittance"
          act={() => quittance.unresolved.accept(funds.id)}
          onDone={() => readAgain('unresolved', 'invoices', 'balances', 'balance-transactions')}
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
  const { asset, invoice_id: invoice, payout_id: payout, tx_hash: hash, resolved_at: decided } = funds;
  const amount = (value: string) => value !== '0' && <Amount value={value} asset={asset.symbol} />;
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
          facts={{
            Left: amount(funds.amount),
            'Being returned in parts': amount(funds.returning_amount),
            'Returned in parts': amount(funds.returned_amount),
            Why: reasonText(funds.reason),
            Invoice: invoice && <PageLink to={`/invoices/${invoice}`}>{invoice}</PageLink>,
            Payout: payout && <PageLink to={`/payouts/${payout}`}>{payout}</PageLink>,
            Transaction: hash && <Copyable text={hash} label="Copy the hash" />,
            Id: <Copyable text={funds.id} label="Copy the id" />,
            Received: <Time at={funds.created_at} />,
            Decided: decided && <Time at={decided} />,
          }}
        />
      </Section>
      <Returns funds={funds} />
    </Stack>
  );
}

/** Claim links and payouts that return the funds, or parts of them. */
function Returns({ funds: { id } }: { funds: UnresolvedFunds }) {
  const of = { deposit_id: id };
  const { data: payouts = [] } = useAllowed('payouts:read', ['payouts', of], (options) =>
    Array.fromAsync(quittance.payouts.list(of, options)),
  );
  const { data: links = [] } = useAllowed('refunds:read', ['refunds', of], (options) =>
    Array.fromAsync(quittance.refunds.list(of, options)),
  );
  if (links.length + payouts.length === 0) return null;
  return (
    <Section title="Returns">
      {[...links, ...payouts].map((one) => (
        <Group key={one.id} gap="xs">
          {'payout_id' in one ? (
            <Text size="sm">Claim link</Text>
          ) : (
            <PageLink to={`/payouts/${one.id}`}>Payout {one.id}</PageLink>
          )}
          <Amount value={one.amount} asset={one.asset.symbol} size="sm" />
          <StateBadge state={one.status} />
          <Note>
            <Time at={one.created_at} />
          </Note>
        </Group>
      ))}
    </Section>
  );
}
