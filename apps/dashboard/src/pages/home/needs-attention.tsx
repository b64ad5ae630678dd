import { Alert, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { quittance } from '../../client.ts';
import { Failure } from '../../parts/failure.tsx';
import { PageLink, Section } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { REFRESH_MS } from '../../queries.ts';
import { type Scope, useMay } from '../../session/session.ts';
import { attentionOf } from './attention.ts';

/** What those who may know it read now and then. */
function useWaiting<T>(scope: Scope, name: string[], read: (options: { signal: AbortSignal }) => Promise<T>) {
  return useRead(name, read, { enabled: useMay(scope), refetchInterval: 2 * REFRESH_MS });
}

/** What waits for a person, with the pages on which it is decided. */
export function NeedsAttention() {
  const one = { perPage: 1 };
  const funds = useWaiting('unresolved:read', ['unresolved', 'open'], (options) =>
    quittance.unresolved.list({ status: 'open', ...one }, options),
  );
  const payouts = useWaiting('payouts:read', ['payouts', 'waiting'], (options) =>
    quittance.payouts.list({ approval: 'waiting', ...one }, options),
  );
  const webhooks = useWaiting('webhooks:read', ['webhooks', 'all'], (options) =>
    Array.fromAsync(quittance.webhooks.list({}, options)),
  );
  const refunds = useWaiting('refunds:read', ['refunds', 'claimable'], (options) =>
    Array.fromAsync(quittance.refunds.list({ status: 'claimable' }, options)),
  );
  const rules = useWaiting('payouts:read', ['automatic-payouts'], (options) =>
    quittance.automaticPayouts.list(options),
  );
  const halts = useWaiting('payouts:read', ['halted-assets'], (options) =>
    quittance.payouts.haltedAssets(options),
  );
  const all = [funds, payouts, webhooks, refunds, rules, halts];
  const error = all.find((query) => query.error !== null)?.error;
  const found = attentionOf({
    openFunds: funds.data?.meta.total,
    waitingPayouts: payouts.data?.meta.total,
    webhooks: webhooks.data,
    claimableRefunds: refunds.data,
    automaticPayouts: rules.data,
    haltedAssets: halts.data,
  });
  const isRead = all.every(({ isLoading }) => !isLoading);
  return (
    <Section title="Needs attention">
      <Failure error={error} />
      {found.length === 0 && isRead && error === undefined && (
        <Group gap="xs">
          <ThemeIcon variant="light" color="green" size="sm">
            <IconCircleCheck size={14} />
          </ThemeIcon>
          <Text size="sm">Nothing waits for you.</Text>
        </Group>
      )}
      <Stack gap="xs">
        {found.map(({ id, tone, text, to, search }) => (
          <Alert key={id} color={tone} icon={<IconAlertTriangle />} p="xs">
            <PageLink to={to} search={search} c="inherit" underline="always">
              {text}
            </PageLink>
          </Alert>
        ))}
      </Stack>
    </Section>
  );
}
