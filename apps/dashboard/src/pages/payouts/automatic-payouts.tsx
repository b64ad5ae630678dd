import { Alert, Anchor, Button, Group, Modal, Paper, SimpleGrid, Text, Title } from '@mantine/core';
import type { AutomaticPayout } from '@quittance/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { Address } from '../../parts/address.tsx';
import { Amount, assetName } from '../../parts/amount.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { networkName } from '../../parts/networks.ts';
import { Facts, Loaded, Page } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { AutomaticPayoutForm } from './automatic-payout-form.tsx';

/** Why a rule pays nothing, or less often. */
const problems: Readonly<Record<NonNullable<AutomaticPayout['last_error']>, string>> = {
  unavailable:
    'The last run paid nothing: payouts of the asset are halted, its fee is not known, or a part of the service did not answer. It is tried again.',
  insufficient_balance:
    'The last run paid nothing: something else was paid from the balance in between. It is tried again.',
  invalid_request:
    'The last run paid nothing: the address or the asset cannot be paid any more. Change the rule.',
  payout_failed: 'The last payout of the rule has failed. The rule waits longer before it runs again.',
  cancelled: 'A payout of the rule was cancelled or rejected, which has disabled the rule.',
};

/** The rules that pay out all of a balance, one for each asset. */
export function RoutePage() {
  const rules = useQuery({
    queryKey: ['automatic-payouts'],
    queryFn: ({ signal }) => quittance.automaticPayouts.list({ signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title="Automatic payouts">
      <Text size="sm" c="dimmed" maw={820}>
        A rule pays all that the balance of an asset has, after the network fee, to one address. It leaves
        what open claim links promise, and keeps to the payout policy.
      </Text>
      <Loaded query={rules}>{(found) => <Rules rules={found} />}</Loaded>
    </Page>
  );
}

function Rules({ rules }: { rules: readonly AutomaticPayout[] }) {
  const client = useQueryClient();
  const { data: assets = [] } = useAssets();
  const [edited, setEdited] = useState<string>();
  const [deleted, setDeleted] = useState<string>();
  // A rule of an asset that is not active any more is still shown.
  const symbols = [...new Set([...assets, ...rules.map(({ asset }) => asset)].map(({ symbol }) => symbol))];
  const ruleOf = (symbol: string | undefined) => rules.find(({ asset }) => asset.symbol === symbol);
  return (
    <>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {symbols.map((symbol) => (
          <Rule
            key={symbol}
            symbol={symbol}
            rule={ruleOf(symbol)}
            onEdit={() => setEdited(symbol)}
            onDelete={() => setDeleted(symbol)}
          />
        ))}
      </SimpleGrid>
      <Modal
        opened={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={edited && `Automatic payout of ${assetName(edited)}`}
        size="lg"
      >
        {edited !== undefined && (
          <AutomaticPayoutForm symbol={edited} rule={ruleOf(edited)} onDone={() => setEdited(undefined)} />
        )}
      </Modal>
      {deleted !== undefined && (
        <ConfirmDialog
          title={`Delete the rule of ${assetName(deleted)}?`}
          button="Delete the rule"
          act={async () => {
            await quittance.automaticPayouts.delete(deleted);
            await client.invalidateQueries({ queryKey: ['automatic-payouts'] });
          }}
          onClose={() => setDeleted(undefined)}
        >
          Nothing is paid by itself any more. A payout that is already requested may still be sent.
        </ConfirmDialog>
      )}
    </>
  );
}

type RuleProps = { symbol: string; rule: AutomaticPayout | undefined; onEdit(): void; onDelete(): void };

function Rule({ symbol, rule, onEdit, onDelete }: RuleProps) {
  const mayPay = useMay('payouts:write');
  return (
    <Paper withBorder p="md" component="section" aria-label={assetName(symbol)}>
      <Group justify="space-between" mb="sm">
        <Group gap="xs">
          <Title order={2} size="h4">
            {assetName(symbol)}
          </Title>
          {rule !== undefined && <StateBadge state={rule.enabled ? 'enabled' : 'disabled'} />}
        </Group>
        {mayPay && (
          <Group gap="xs">
            <Button size="xs" variant="default" onClick={onEdit}>
              {rule === undefined ? 'Add a rule' : 'Change'}
            </Button>
            {rule !== undefined && (
              <Button size="xs" variant="subtle" color="red" onClick={onDelete}>
                Delete
              </Button>
            )}
          </Group>
        )}
      </Group>
      {rule === undefined ? (
        <Text size="sm" c="dimmed">
          No rule: the balance stays until somebody pays it out.
        </Text>
      ) : (
        <RuleFacts rule={rule} />
      )}
    </Paper>
  );
}

function RuleFacts({ rule }: { rule: AutomaticPayout }) {
  const { asset, schedule, threshold, last_payout_id: last, last_error: error } = rule;
  return (
    <>
      <Facts
        facts={[
          ['To', <Address key="to" address={rule.address} />],
          ['Network', networkName(asset.symbol)],
          [
            'When',
            schedule === 'daily' ? (
              'daily, after midnight UTC'
            ) : (
              <>
                whenever the balance has <Amount value={threshold ?? '0'} asset={asset.symbol} /> and the fee
              </>
            ),
          ],
          [
            'At least',
            schedule === 'daily' && threshold !== null ? (
              <Amount key="least" value={threshold} asset={asset.symbol} />
            ) : null,
          ],
          ['Next run', rule.next_run_at && <Time key="next" at={rule.next_run_at} />],
          ['Last run', rule.last_run_at && <Time key="last" at={rule.last_run_at} />],
          [
            'Last payout',
            last && (
              <Anchor key="payout" component={Link} to={`/payouts/${last}`} inherit>
                {last}
              </Anchor>
            ),
          ],
        ]}
      />
      {error !== null && (
        <Alert color="yellow" mt="sm">
          {problems[error]}
        </Alert>
      )}
    </>
  );
}
