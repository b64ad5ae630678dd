import { Alert, Button, Modal, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import type { CreatedRefund, CreateRefund, PayableInvoice } from '@quittance/client';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { Amount } from '../../parts/amount.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { lockedModal } from '../../parts/locked-modal.ts';
import { useSendOnce } from '../../parts/send-once.tsx';
import { Time } from '../../parts/time.tsx';
import { TwoSteps } from '../../parts/two-steps.tsx';
import type { Refundable } from './refund-amount.ts';
import { RefundConfirmation } from './refund-confirmation.tsx';
import { RefundFields } from './refund-fields.tsx';
import { firstRefund, problemsOf, refundOf } from './refund-form.ts';

type Props = { invoice: PayableInvoice; refundable: Refundable };

/**
 * Refunds an invoice: what and where to, then the exact amounts, then what became of it. The dialog stays when nothing is left: it may
 * show a claim link.
 */
export function RefundButton({ invoice, refundable }: Props) {
  const [isOpen, { open, close }] = useDisclosure();
  const [confirmed, setConfirmed] = useState<CreateRefund>();
  const [created, setCreated] = useState<CreatedRefund>();
  const client = useQueryClient();
  const form = useForm({
    initialValues: firstRefund(refundable),
    validate: (values) => problemsOf(values, invoice, refundable),
  });
  const { send, isPending, error, isUnknown, forget } = useSendOnce(
    (refund: CreateRefund, idempotencyKey) =>
      quittance.refunds.create(invoice.id, refund, { idempotencyKey, maxRetries: 0 }),
    (refund) => {
      setCreated(refund);
      open();
    },
  );
  const submit = (refund: CreateRefund) =>
    send(refund, {
      onError: (failure) => {
        const errors = errorsOf(failure);
        form.setErrors(errors);
        if (Object.keys(errors).length > 0) setConfirmed(undefined);
      },
      onSettled: () => {
        for (const list of ['invoices', 'refunds', 'payouts', 'balances', 'balance-transactions'])
          void client.invalidateQueries({ queryKey: [list] });
      },
    });
  const begin = () => {
    // What was sent and has no answer yet is shown again as it was.
    if (!isUnknown) {
      setConfirmed(undefined);
      form.setValues(firstRefund(refundable));
      form.clearErrors();
    }
    forget();
    setCreated(undefined);
    open();
  };
  const isSecret = typeof created?.claim_url === 'string';
  return (
    <>
      {(refundable.left !== '0' || isUnknown || isPending) && (
        <Button variant="default" leftSection={<IconArrowBackUp size={16} />} onClick={begin}>
          Refund
        </Button>
      )}
      <Modal
        opened={isOpen}
        onClose={close}
        title={created === undefined ? 'Refund' : 'The refund was created'}
        size="lg"
        {...lockedModal(isPending || isSecret)}
      >
        {created !== undefined ? (
          <Created refund={created} onClose={close} />
        ) : (
          <TwoSteps
            fields={<RefundFields form={form} invoice={invoice} refundable={refundable} />}
            onSubmit={form.onSubmit((values) => setConfirmed(refundOf(values)))}
            onClose={close}
            confirmed={
              confirmed && {
                shown: <RefundConfirmation invoice={invoice} refundable={refundable} refund={confirmed} />,
                label: 'address' in confirmed ? 'Send the refund' : 'Create the claim link',
                send: () => submit(confirmed),
              }
            }
            onBack={() => setConfirmed(undefined)}
            isPending={isPending}
            error={error}
            isUnknown={isUnknown}
            what="the refund was created"
            list={LIST}
          />
        )}
      </Modal>
    </>
  );
}

const LIST = { to: '/refunds', label: 'The list of refunds' };

function Created({ refund, onClose }: { refund: CreatedRefund; onClose(): void }) {
  const { claim_url: link, amount, asset, expires_at } = refund;
  return (
    <Stack>
      <Text size="sm">
        The refund is of <Amount value={amount} asset={asset.symbol} />.
      </Text>
      {expires_at === null ? (
        <Text size="sm">A payout is sending it. The timeline of the invoice shows how far it is.</Text>
      ) : link === null ? (
        <Alert color="yellow">
          The claim link cannot be shown. Cancel this refund and create another one.
        </Alert>
      ) : (
        <>
          <Alert color="yellow">
            The link is shown this once. Whoever has it can claim the refund: send it to your customer alone.
          </Alert>
          <Copyable text={link} label="Copy the claim link" />
          <Text size="sm">
            It can be used until <Time at={expires_at} />.
          </Text>
        </>
      )}
      <Button onClick={onClose}>{link === null ? 'Close' : 'I have kept it'}</Button>
    </Stack>
  );
}
