import { Alert, Button, Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import type { ReturnedUnresolved, ReturnUnresolved, UnresolvedFunds } from '@quittance/client';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { useAssets } from '../../parts/account-data.ts';
import { Address } from '../../parts/address.tsx';
import { Amount, assetName } from '../../parts/amount.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { lockedModal } from '../../parts/locked-modal.ts';
import { networkName } from '../../parts/networks.ts';
import { Facts } from '../../parts/page.tsx';
import { useSendOnce } from '../../parts/send-once.tsx';
import { TwoSteps } from '../../parts/two-steps.tsx';
import { WhereToFields } from '../../parts/where-to-fields.tsx';
import { firstReturn, type ReturnChoice, receivedOf, returnOf, returnProblems } from './return-form.ts';

const LIST = { to: '/payouts', label: 'The list of payouts' };

/**
 * Returns unresolved funds: how much and where to, then the exact amounts, then the claim link where there is one. The dialog stays
 * when the funds are not open any more.
 */
export function ReturnButton({ funds }: { funds: UnresolvedFunds }) {
  const [isOpen, { open, close }] = useDisclosure();
  const [confirmed, setConfirmed] = useState<ReturnUnresolved>();
  const [returned, setReturned] = useState<ReturnedUnresolved>();
  const client = useQueryClient();
  const form = useForm({
    initialValues: firstReturn,
    validate: (choice) => returnProblems(choice, funds.amount),
  });
  const { send, isPending, error, isUnknown, forget } = useSendOnce(
    (how: ReturnUnresolved, idempotencyKey) =>
      quittance.unresolved.return(funds.id, how, { idempotencyKey, maxRetries: 0 }),
    (done) => {
      setReturned(done);
      open();
    },
  );
  const readAgain = () => {
    for (const list of ['unresolved', 'payouts', 'refunds', 'invoices'])
      void client.invalidateQueries({ queryKey: [list] });
  };
  const submit = (how: ReturnUnresolved) =>
    send(how, {
      onError: (failure) => {
        const errors = errorsOf(failure);
        form.setErrors(errors);
        if (Object.keys(errors).length > 0) setConfirmed(undefined);
      },
      onSettled: readAgain,
    });
  const begin = () => {
    forget();
    if (!isUnknown) setConfirmed(undefined);
    setReturned(undefined);
    open();
  };
  const link = returned !== undefined && 'claim_url' in returned ? returned.claim_url : undefined;
  return (
    <>
      {(funds.status === 'open' || isUnknown || isPending) && (
        <Button variant="default" leftSection={<IconArrowBackUp size={16} />} onClick={begin}>
          Return
        </Button>
      )}
      <Modal
        opened={isOpen}
        onClose={close}
        title={returned === undefined ? 'Return to your customer' : 'The return was created'}
        size="lg"
        {...lockedModal(isPending || typeof link === 'string')}
      >
        {returned !== undefined ? (
          <Returned link={link} onClose={close} />
        ) : (
          <TwoSteps
            fields={<Fields form={form} funds={funds} />}
            onSubmit={form.onSubmit((choice) => setConfirmed(returnOf(choice)))}
            onClose={close}
            confirmed={
              confirmed && {
                shown: <Confirmation funds={funds} how={confirmed} />,
                label: confirmed.claim === true ? 'Create the claim link' : 'Send it back',
                send: () => submit(confirmed),
              }
            }
            onBack={() => {
              forget();
              setConfirmed(undefined);
            }}
            isPending={isPending}
            error={error}
            isUnknown={isUnknown}
            what="the return was created"
            list={LIST}
          />
        )}
      </Modal>
    </>
  );
}

function Fields({ form, funds }: { form: UseFormReturnType<ReturnChoice>; funds: UnresolvedFunds }) {
  const { symbol } = funds.asset;
  return (
    <>
      <Radio.Group label="How much" {...form.getInputProps('kind')}>
        <Stack gap="xs" mt="xs">
          <Radio
            value="all"
            label={
              <>
                All that is left: <Amount value={funds.amount} asset={symbol} />
              </>
            }
          />
          <Radio value="other" label="A part of it" />
        </Stack>
      </Radio.Group>
      {form.values.kind === 'other' && (
        <TextInput
          label={`Amount in ${assetName(symbol)}`}
          description="The rest stays open: return or accept it later."
          inputMode="decimal"
          {...form.getInputProps('amount')}
        />
      )}
      <WhereToFields form={form} asset={symbol} />
      <TextInput label="Your reference (optional)" maxLength={255} {...form.getInputProps('external_id')} />
    </>
  );
}

function Confirmation({ funds, how }: { funds: UnresolvedFunds; how: ReturnUnresolved }) {
  const { symbol } = funds.asset;
  const fee = useAssets().data?.find((asset) => asset.symbol === symbol)?.network_fee;
  const taken = how.amount === undefined ? funds.amount : String(how.amount);
  const received = fee === undefined ? undefined : receivedOf(taken, fee);
  const address = how.address ?? undefined;
  return (
    <Stack>
      <Facts
        facts={[
          ['It takes of the funds', <Amount key="taken" value={taken} asset={symbol} />],
          [
            'Network fee',
            fee === undefined ? (
              'not known now'
            ) : (
              <>
                about <Amount value={fee} asset={symbol} />
              </>
            ),
          ],
          [
            'Your customer gets',
            received === undefined ? undefined : (
              <>
                about <Amount value={received} asset={symbol} />
              </>
            ),
          ],
          [
            'To',
            address === undefined ? (
              'an address that your customer gives'
            ) : (
              <Address key="to" address={address} />
            ),
          ],
          ['On the network', networkName(symbol)],
        ]}
      />
      {fee !== undefined && received === undefined && (
        <Alert color="yellow">The network fee takes all of it at the moment.</Alert>
      )}
      <Text size="sm">
        {address === undefined
          ? 'Until your customer uses the link the funds stay open: when you accept or return them otherwise, the link pays nothing.'
          : 'It is sent as soon as you confirm, and cannot be taken back once it is signed. The fee is that of this moment.'}
      </Text>
    </Stack>
  );
}

function Returned({ link, onClose }: { link: string | null | undefined; onClose(): void }) {
  return (
    <Stack>
      {link === undefined && <Text size="sm">A payout is sending it. It is in the list of payouts.</Text>}
      {link === null && (
        <Alert color="yellow">
          The claim link cannot be shown. Cancel its refund and create another one.
        </Alert>
      )}
      {typeof link === 'string' && (
        <>
          <Alert color="yellow">
            The link is shown this once. Whoever has it can claim the funds: send it to your customer alone.
          </Alert>
          <Copyable text={link} label="Copy the claim link" />
        </>
      )}
      <Button onClick={onClose}>{typeof link === 'string' ? 'I have kept it' : 'Close'}</Button>
    </Stack>
  );
}
