import { Alert, Group, SimpleGrid } from '@mantine/core';
import type { AutomaticPayout } from '@quittance/client';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { ConfirmButton, DialogButton } from '../../parts/dialogs.tsx';
import { networkName } from '../../parts/networks.ts';
import { Facts, Loaded, Note, Page, PageLink, Section } from '../../parts/page.tsx';
import { useLive } from '../../parts/reading.ts';
import { Address, Amount, assetName, StateBadge, Time } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
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
  const query = useLive(['automatic-payouts'], (options) => quittance.automaticPayouts.list(options));
  const { data: assets = [] } = useAssets();
  return (
    <Page title="Automatic payouts">
      <Note maw={820}>
        A rule pays all that the balance of an asset has, after the network fee, to one address. It leaves
        what open claim links promise, and keeps to the payout policy.
      </Note>
      <Loaded query={query}>
        {(rules) => (
          <SimpleGrid cols={{ base: 1, lg: 2 }}>
            {/* A rule of an asset that is not active any more is still shown. */}
            {[...new Set([...assets, ...rules.map(({ asset }) => asset)].map(({ symbol }) => symbol))].map(
              (symbol) => (
                <Rule
                  key={symbol}
                  symbol={symbol}
                  rule={rules.find(({ asset }) => asset.symbol === symbol)}
                />
              ),
            )}
          </SimpleGrid>
        )}
      </Loaded>
    </Page>
  );
}

function Rule({ symbol, rule }: { symbol: string; rule: AutomaticPayout | undefined }) {
  const mayPay = useMay('payouts:write');
  const name = assetName(symbol);
  return (
    <Section
      title={name}
      mark={rule && <StateBadge state={rule.enabled ? 'enabled' : 'disabled'} />}
      actions={
        mayPay && (
          <Group gap="xs">
            <DialogButton
              label={rule === undefined ? 'Add a rule' : 'Change'}
              title={`Automatic payout of ${name}`}
              size="xs"
              dialogSize="lg"
            >
              {(close) => <AutomaticPayoutForm symbol={symbol} rule={rule} onDone={close} />}
            </DialogButton>
            {rule !== undefined && (
              <ConfirmButton
                label="Delete"
                confirm="Delete the rule"
                title={`Delete the rule of ${name}?`}
                size="xs"
                variant="subtle"
                color="red"
                act={() => quittance.automaticPayouts.delete(symbol)}
                onDone={() => readAgain('automatic-payouts')}
              >
                Nothing is paid by itself any more. A payout that is already requested may still be sent.
              </ConfirmButton>
            )}
          </Group>
        )
      }
    >
      {rule === undefined ? (
        <Note>No rule: the balance stays until somebody pays it out.</Note>
      ) : (
        <RuleFacts rule={rule} />
      )}
    </Section>
  );
}

function RuleFacts({ rule }: { rule: AutomaticPayout }) {
  const { asset, schedule, threshold, last_payout_id: last, last_error: error } = rule;
  const least = threshold !== null && <Amount value={threshold} asset={asset.symbol} />;
  const isDaily = schedule === 'daily';
  return (
    <>
      <Facts
        facts={{
          To: <Address address={rule.address} />,
          Network: networkName(asset.symbol),
          When: isDaily ? 'daily, after midnight UTC' : <>whenever the balance has {least} and the fee</>,
          'At least': isDaily && least,
          'Next run': rule.next_run_at && <Time at={rule.next_run_at} />,
          'Last run': rule.last_run_at && <Time at={rule.last_run_at} />,
          'Last payout': last && <PageLink to={`/payouts/${last}`}>{last}</PageLink>,
        }}
      />
      {error !== null && (
        <Alert color="yellow" mt="sm">
          {problems[error]}
        </Alert>
      )}
    </>
  );
}
