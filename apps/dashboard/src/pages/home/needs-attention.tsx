import { Alert, Anchor, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { Failure } from '../../parts/failure.tsx';
import { Section } from '../../parts/section.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { attentionOf } from './attention.ts';

const READ_MS = 2 * REFRESH_MS;

/** What waits for a person, with the pages on which it is decided. */
export function NeedsAttention() {
  const [funds, payouts, webhooks, refunds, rules, halts] = useQueries({
    queries: [
      {
        queryKey: ['unresolved', 'open'],
        queryFn: async ({ signal }: { signal: AbortSignal }) =>
          (await quittance.unresolved.list({ status: 'open', perPage: 1 }, { signal })).meta.total,
        enabled: useMay('unresolved:read'),
        refetchInterval: READ_MS,
      },
      {
        queryKey: ['payouts', 'waiting'],
        queryFn: async ({ signal }: { signal: AbortSignal }) =>
          (await quittance.payouts.list({ approval: 'waiting', perPage: 1 }, { signal })).meta.total,
        enabled: useMay('payouts:read'),
        refetchInterval: READ_MS,
      },
      {
        queryKey: ['webhooks', 'all'],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          Array.fromAsync(quittance.webhooks.list({}, { signal })),
        enabled: useMay('webhooks:read'),
        refetchInterval: READ_MS,
      },
      {
        queryKey: ['refunds', 'claimable'],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          Array.fromAsync(quittance.refunds.list({ status: 'claimable' }, { signal })),
        enabled: useMay('refunds:read'),
        refetchInterval: READ_MS,
      },
      {
        queryKey: ['automatic-payouts'],
        queryFn: ({ signal }: { signal: AbortSignal }) => quittance.automaticPayouts.list({ signal }),
        enabled: useMay('payouts:read'),
        refetchInterval: READ_MS,
      },
      {
        queryKey: ['halted-assets'],
        queryFn: ({ signal }: { signal: AbortSignal }) => quittance.payouts.haltedAssets({ signal }),
        enabled: useMay('payouts:read'),
        refetchInterval: READ_MS,
      },
    ],
  });
  const all = [funds, payouts, webhooks, refunds, rules, halts];
  const error = all.find((one) => one.error !== null)?.error;
  const found = attentionOf({
    openFunds: funds.data,
    waitingPayouts: payouts.data,
    webhooks: webhooks.data,
    claimableRefunds: refunds.data,
    automaticPayouts: rules.data,
    haltedAssets: halts.data,
  });
  const isRead = all.every(({ isLoading }) => !isLoading);
  return (
    <Section title="Needs attention">
      {error !== undefined && error !== null && <Failure error={error} />}
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
            <Anchor
              component={Link}
              to={to}
              search={(search ?? {}) as never}
              size="sm"
              c="inherit"
              underline="always"
            >
              {text}
            </Anchor>
          </Alert>
        ))}
      </Stack>
    </Section>
  );
}
