import { Alert, Button, Code, Group, Paper, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { MailRecipient } from '@quittance/client';
import { IconPlus } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { ConfirmButton, DialogButton } from '../../parts/dialogs.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Empty, Loaded, Note, Page, Small } from '../../parts/page.tsx';
import { useLive } from '../../parts/reading.ts';
import { type Column, Rows } from '../../parts/table.tsx';
import { StateBadge, Time } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { kindsText } from './mail-kinds.ts';
import { MAIL_RECIPIENTS, MailCodeDialog, MailRecipientForm } from './mail-recipient-form.tsx';

/** As many as an account may have. */
const RECIPIENTS_MAX = 10;

/** Who is told by e-mail what happens in the account. */
export function RoutePage() {
  const mayWrite = useMay('mail:write');
  const [toConfirm, setToConfirm] = useState<MailRecipient>();
  const query = useLive([MAIL_RECIPIENTS], (options) => quittance.mailRecipients.list(options));
  const isFull = (query.data?.data.length ?? 0) >= RECIPIENTS_MAX;
  return (
    <Page
      title="Notifications"
      actions={
        mayWrite &&
        query.data?.meta.sends_mail === true && (
          <DialogButton<MailRecipient>
            label="Add an address"
            variant="filled"
            leftSection={<IconPlus size={16} />}
            disabled={isFull}
            onDone={setToConfirm}
          >
            {(close) => <MailRecipientForm onDone={close} />}
          </DialogButton>
        )
      }
    >
      <Loaded query={query}>
        {({ data, meta }) => (
          <>
            {meta.sends_mail ? (
              <Note>
                {meta.writes_files
                  ? 'This is a sandbox: e-mails are written to files, and sent to nobody. '
                  : `E-mails come from ${meta.sender}. `}
                When more than ten of a sort happen in an hour, they are summed up.
              </Note>
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
              <Paper withBorder>
                <Rows rows={data} columns={columnsOf(setToConfirm)} keyOf={({ id }) => id} minWidth={700} />
              </Paper>
            )}
          </>
        )}
      </Loaded>
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

type OnConfirm = (recipient: MailRecipient) => void;

const columnsOf = (onConfirm: OnConfirm): readonly Column<MailRecipient>[] => [
  {
    id: 'address',
    title: 'Address',
    render: ({ address }) => <span style={{ overflowWrap: 'anywhere' }}>{address}</span>,
  },
  { id: 'kinds', title: 'Told of', render: ({ kinds }) => kindsText(kinds) },
  { id: 'status', title: 'State', render: stateOf },
  {
    id: 'actions',
    title: '',
    render: (recipient) => <RecipientActions recipient={recipient} onConfirm={onConfirm} />,
  },
];

function stateOf({ status, paused_reason: why, ...recipient }: MailRecipient) {
  const { last_sent_at: sent, last_failed_at: failed, last_failure: failure } = recipient;
  return (
    <Stack gap={2} align="flex-start">
      <StateBadge state={status} />
      {why !== null && status === 'paused' && <Small>{why}</Small>}
      {sent !== null && (
        <Small>
          last e-mail <Time at={sent} />
        </Small>
      )}
      {failure !== null && (
        <Small c="red" maw={280} style={{ overflowWrap: 'anywhere' }}>
          last failure {failed !== null && <Time at={failed} />}: {failure}
        </Small>
      )}
    </Stack>
  );
}

type ActionsProps = { recipient: MailRecipient; onConfirm: OnConfirm };

function RecipientActions({ recipient, onConfirm }: ActionsProps) {
  const mayWrite = useMay('mail:write');
  const changed = () => readAgain(MAIL_RECIPIENTS);
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
        <DialogButton label="Change" title={recipient.address} size="compact-sm">
          {(close) => <MailRecipientForm recipient={recipient} onDone={close} />}
        </DialogButton>
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
      <Failure error={error} />
    </Stack>
  );
}
