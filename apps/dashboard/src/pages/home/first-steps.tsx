import { Button, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { InvoiceListItem } from '@quittance/client';
import { IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { quittance } from '../../client.ts';
import { ButtonLink, Section } from '../../parts/page.tsx';
import { PayInSandbox } from '../../parts/pay-in-sandbox.tsx';
import { useLive, useRead } from '../../parts/reading.ts';
import { useMay, useSession } from '../../session/session.ts';

/** From nothing to a paid invoice that a server has heard of. Gone when all is done, or when somebody puts it away. */
export function FirstSteps() {
  const { account_id: account } = useSession();
  const [isAway, setAway] = useLocalStorage({ key: `first-steps-${account}`, defaultValue: false });
  const mayAll = [useMay('tokens:write'), useMay('invoices:write'), useMay('webhooks:write')].every(Boolean);
  const enabled = mayAll && !isAway;
  const tokens = useRead(
    ['tokens', 'count'],
    async (options) => (await quittance.tokens.list({ perPage: 1 }, options)).meta.total,
    { enabled },
  );
  const invoices = useLive(
    ['invoices', 'first'],
    async (options) => (await quittance.invoices.list({ perPage: 1 }, options)).data.at(0) ?? null,
    { enabled },
  );
  const paid = useLive(
    ['invoices', 'first-paid'],
    async (options) => (await quittance.invoices.list({ status: 'paid', perPage: 1 }, options)).meta.total,
    { enabled },
  );
  const webhooks = useRead(
    ['webhooks', 'all'],
    (options) => Array.fromAsync(quittance.webhooks.list({}, options)),
    { enabled },
  );
  if (!enabled || !tokens.isSuccess || !invoices.isSuccess || !paid.isSuccess || !webhooks.isSuccess)
    return null;
  const done = {
    token: tokens.data > 0,
    invoice: invoices.data !== null,
    paid: paid.data > 0,
    webhook: webhooks.data.length > 0,
  };
  if (Object.values(done).every(Boolean)) return null;
  return (
    <Section
      title="First steps"
      actions={
        <Button variant="subtle" size="compact-sm" onClick={() => setAway(true)}>
          Put away
        </Button>
      }
    >
      <Stack component="ol" m={0} p={0} gap="md" style={{ listStyle: 'none' }}>
        <Step
          number={1}
          isDone={done.token}
          title="Create an API token"
          action={{ to: '/tokens', label: 'API tokens' }}
        >
          With it your shop creates invoices.
        </Step>
        <Step
          number={2}
          isDone={done.invoice}
          title="Make an invoice"
          action={{ to: '/invoices/new', label: 'New invoice' }}
        >
          It has a payment page, whose link your customer gets.
        </Step>
        <Step number={3} isDone={done.paid} title="Have it paid">
          {invoices.data === null || done.paid ? (
            'It is paid when the money is final.'
          ) : (
            <Pay listed={invoices.data} />
          )}
        </Step>
        <Step
          number={4}
          isDone={done.webhook}
          title="Add a webhook"
          action={{ to: '/webhooks', label: 'Webhooks' }}
        >
          Your server is told that the invoice is paid. Each delivery is listed with its answer.
        </Step>
      </Stack>
    </Section>
  );
}

/** How the newest invoice is paid. */
function Pay({ listed: { id } }: { listed: InvoiceListItem }) {
  const { data: invoice } = useRead(['invoices', id], (options) => quittance.invoices.retrieve(id, options));
  return (
    <Stack gap="xs">
      <span>Open its payment page, and pay it as a customer would.</span>
      {invoice !== undefined && <PayInSandbox invoice={invoice} />}
    </Stack>
  );
}

type StepProps = {
  number: number;
  isDone: boolean;
  title: string;
  action?: { to: string; label: string };
  children: ReactNode;
};

const Step = ({ number, isDone, title, action, children }: StepProps) => (
  <Group component="li" wrap="nowrap" align="flex-start" gap="sm">
    <ThemeIcon
      radius="xl"
      size="md"
      variant={isDone ? 'filled' : 'light'}
      color={isDone ? 'green' : 'quittance'}
    >
      {isDone ? <IconCheck size={16} aria-label="Done" /> : number}
    </ThemeIcon>
    <Stack gap={4} flex={1} miw={0}>
      <Text fw={600} td={isDone ? 'line-through' : undefined}>
        {title}
      </Text>
      {!isDone && (
        <Text size="sm" component="div">
          {children}
        </Text>
      )}
      {!isDone && action !== undefined && (
        <Group>
          <ButtonLink to={action.to} size="xs" variant="light">
            {action.label}
          </ButtonLink>
        </Group>
      )}
    </Stack>
  </Group>
);
