import { Alert, Button, Code, Group, Paper, Stack, Table, Text, VisuallyHidden } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { MailRecipient } from '@quittance/client';
import { IconPlus } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Empty, Loaded, Page } from '../../parts/page.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { REFRESH_MS } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { kindsText } from './mail-kinds.ts';
import { MAIL_RECIPIENTS, MailCodeDialog, MailRecipientDialog } from './mail-recipient-form.tsx';

/** As many as an account may have. */
const RECIPIENTS_MAX = 10;

/** Who is told by e-mail what happens in the account. */
export function RoutePage() {
  const mayWrite = useMay('mail:write');
  const [isAdding, setAdding] = useState(false);
  const [toConfirm, setToConfirm] = useState<MailRecipient>();
  const query = useQuery({
    queryKey: MAIL_RECIPIENTS,
    queryFn: ({ signal }) => quittance.mailRecipients.list({ signal }),
    refetchInterval: REFRESH_MS,
  });
  const isFull = (query.data?.data.length ?? 0) >= RECIPIENTS_MAX;
  return (
    <Page
      title="Notifications"
      actions={
        mayWrite &&
        query.data?.meta.sends_mail === true && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)} disabled={isFull}>
            Add an address
          </Button>
        )
      }
    >
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            {meta.sends_mail ? (
              <Text size="sm" c="dimmed">
                {meta.writes_files
                  ? 'This is a sandbox: e-mails are written to files, and sent to nobody. '
                  : `E-mails come from ${meta.sender}. `}
                When more than ten of a sort happen in an hour, they are summed up.
              </Text>
            ) : (
              <NoMail />
            )}
            {data.length === 0 ? (
              meta.sends_mail && (
                <Paper withBorder>
                  <Empty title="Nobody is told by e-mail">
                    An address can be told of failed payouts, of payments that are late or too small, of paid
                    invoices, and of webhook endpoints that fail.
                  </Empty>
                </Paper>
              )
            ) : (
              <Recipients recipients={data} onConfirm={setToConfirm} />
            )}
          </>
        )}
      </Loaded>
      {isAdding && (
        <MailRecipientDialog
          onClose={() => setAdding(false)}
          onDone={(made) => {
            setAdding(false);
            setToConfirm(made);
          }}
        />
      )}
      {toConfirm !== undefined && (
        <MailCodeDialog
          recipient={toConfirm}
          onClose={() => setToConfirm(undefined)}
          onDone={({ address }) => {
            setToConfirm(undefined);
            notifications.show({ message: `${address} is told by e-mail from now on.` });
          }}
        />
      )}
    </Page>
  );
}

const NoMail = () => (
  <Alert title="Your installation sends no e-mail" color="yellow">
    <Text size="sm">
      Its operator sets <Code>SMTP_URL</Code>, such as smtps://user:password@smtp.example.com, and{' '}
      <Code>MAIL_FROM</Code>, the sender, in the file .env, and starts the service webhooks again.
    </Text>
  </Alert>
);

type ListProps = { recipients: readonly MailRecipient[]; onConfirm(recipient: MailRecipient): void };

const Recipients = ({ recipients, onConfirm }: ListProps) => (
  <Paper withBorder>
    <ScrollTable minWidth={700} verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Address</Table.Th>
          <Table.Th>Told of</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th>
            <VisuallyHidden>Actions</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {recipients.map((recipient) => (
          <RecipientRow key={recipient.id} recipient={recipient} onConfirm={onConfirm} />
        ))}
      </Table.Tbody>
    </ScrollTable>
  </Paper>
);

function RecipientRow({ recipient, onConfirm }: { recipient: MailRecipient } & Pick<ListProps, 'onConfirm'>) {
  const { address, kinds, status, paused_reason: why, last_failure: failure } = recipient;
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{address}</Table.Td>
      <Table.Td>{kindsText(kinds)}</Table.Td>
      <Table.Td>
        <Stack gap={2} align="flex-start">
          <StateBadge state={status} />
          {why !== null && status === 'paused' && (
            <Text size="xs" c="dimmed">
              {why}
            </Text>
          )}
          {recipient.last_sent_at !== null && (
            <Text size="xs" c="dimmed">
              last e-mail <Time at={recipient.last_sent_at} />
            </Text>
          )}
          {failure !== null && (
            <Text size="xs" c="red" maw={280} style={{ overflowWrap: 'anywhere' }}>
              last failure {recipient.last_failed_at !== null && <Time at={recipient.last_failed_at} />}:{' '}
              {failure}
            </Text>
          )}
        </Stack>
      </Table.Td>
      <Table.Td>
        <RecipientActions recipient={recipient} onConfirm={onConfirm} />
      </Table.Td>
    </Table.Tr>
  );
}

function RecipientActions({
  recipient,
  onConfirm,
}: { recipient: MailRecipient } & Pick<ListProps, 'onConfirm'>) {
  const client = useQueryClient();
  const mayWrite = useMay('mail:write');
  const [isChanging, setChanging] = useState(false);
  const changed = () => client.invalidateQueries({ queryKey: MAIL_RECIPIENTS });
  const test = useMutation({
    mutationFn: () => quittance.mailRecipients.test(recipient.id),
    onSuccess: () => notifications.show({ message: `A test is on its way to ${recipient.address}.` }),
  });
  const again = useMutation({
    mutationFn: () => quittance.mailRecipients.sendCode(recipient.id),
    onSuccess: onConfirm,
    onSettled: changed,
  });
  const error = test.error ?? again.error;
  if (!mayWrite) return null;
  return (
    <Stack gap={4} align="flex-end">
      <Group gap={4} justify="flex-end">
        {recipient.status === 'active' ? (
          <Button variant="default" size="compact-sm" loading={test.isPending} onClick={() => test.mutate()}>
            Send a test
          </Button>
        ) : (
          <Button
            size="compact-sm"
            loading={again.isPending}
            onClick={() => (recipient.status === 'unconfirmed' ? onConfirm(recipient) : again.mutate())}
          >
            {recipient.status === 'unconfirmed' ? 'Confirm' : 'Send a code'}
          </Button>
        )}
        <Button variant="default" size="compact-sm" onClick={() => setChanging(true)}>
          Change
        </Button>
        <ConfirmButton
          label="Remove"
          title={`Remove ${recipient.address}?`}
          size="compact-sm"
          act={() => quittance.mailRecipients.delete(recipient.id)}
          onDone={changed}
        >
          Nothing more is sent to it.
        </ConfirmButton>
      </Group>
      {error !== null && <Failure error={error} />}
      {isChanging && (
        <MailRecipientDialog
          recipient={recipient}
          onClose={() => setChanging(false)}
          onDone={() => setChanging(false)}
        />
      )}
    </Stack>
  );
}
