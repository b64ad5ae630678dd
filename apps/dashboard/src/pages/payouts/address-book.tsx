import { ActionIcon, Anchor, Box, Button, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import type { AddAddress, PayoutAddress } from '@quittance/client';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { useAssets, usePayoutPolicy } from '../../parts/account-data.ts';
import { Address, addressInput } from '../../parts/address.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { type Column, ListPage } from '../../parts/list-page.tsx';
import { chainNames } from '../../parts/networks.ts';
import { Page } from '../../parts/page.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session/session.ts';
import { useStepUp } from '../../session/step-up.tsx';

const columnsOf = (onDelete: ((address: PayoutAddress) => void) | undefined): Column<PayoutAddress>[] => [
  { id: 'label', title: 'Whose it is', render: ({ label }) => label },
  { id: 'chain', title: 'Network', render: ({ chain }) => chainNames[chain] ?? chain },
  {
    id: 'address',
    title: 'Address',
    render: ({ address }) => (
      <Box miw={190}>
        <Address address={address} />
      </Box>
    ),
  },
  {
    id: 'usable_at',
    title: 'In force',
    render: ({ usable_at: at }) =>
      Date.parse(at) <= Date.now() ? (
        <StateBadge state="enabled" label="usable" />
      ) : (
        <>
          <StateBadge state="waiting" label="not yet" /> from <Time at={at} />
        </>
      ),
  },
  { id: 'created_at', title: 'Added', isHidden: true, render: ({ created_at: at }) => <Time at={at} /> },
  ...(onDelete === undefined
    ? []
    : [
        {
          id: 'actions',
          title: 'Actions',
          align: 'right' as const,
          render: (entry: PayoutAddress) => (
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={`Delete ${entry.label}`}
              onClick={() => onDelete(entry)}
            >
              <IconTrash size={18} />
            </ActionIcon>
          ),
        },
      ]),
];

/** The addresses to which an allow-list lets payouts through. */
export function RoutePage() {
  const client = useQueryClient();
  const mayWrite = useMay('policy:write');
  const { data: policy } = usePayoutPolicy();
  const [isAdding, setAdding] = useState(false);
  const [deleted, setDeleted] = useState<PayoutAddress>();
  return (
    <Page
      title="Address book"
      actions={
        mayWrite && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
            Add an address
          </Button>
        )
      }
    >
      {policy !== undefined && (
        <Text size="sm" c="dimmed">
          {policy.allow_list
            ? 'Payouts go to these addresses alone; refunds and returned funds go anywhere.'
            : 'The payout policy lets payouts go anywhere: these addresses are for choosing from.'}{' '}
          {policy.delay_hours > 0 &&
            `A new address is in force ${hours(policy.delay_hours)} after it was added, so that somebody with a stolen session cannot pay to it at once.`}{' '}
          <Anchor component={Link} to="/payout-policy" inherit underline="always">
            Payout policy
          </Anchor>
        </Text>
      )}
      <ListPage
        name="address-book"
        load={(query, signal) => quittance.addressBook.list(query, { signal })}
        columns={columnsOf(mayWrite ? setDeleted : undefined)}
        empty={{ title: 'No addresses yet', text: 'An address is added for a network, with whose it is.' }}
      />
      <Modal opened={isAdding} onClose={() => setAdding(false)} title="Add an address" size="lg">
        <AddForm delayHours={policy?.delay_hours ?? 0} onDone={() => setAdding(false)} />
      </Modal>
      {deleted !== undefined && (
        <ConfirmDialog
          title={`Delete ${deleted.label}?`}
          button="Delete"
          act={async () => {
            await quittance.addressBook.delete(deleted.id);
            await client.invalidateQueries({ queryKey: ['address-book'] });
          }}
          onClose={() => setDeleted(undefined)}
        >
          <Address address={deleted.address} />
          <Text size="sm" mt="sm">
            It is deleted at once, and payouts that exist stay. When it is added again, it waits again.
          </Text>
        </ConfirmDialog>
      )}
    </Page>
  );
}

const hours = (count: number): string => (count === 1 ? 'an hour' : `${count} hours`);

function AddForm({ delayHours, onDone }: { delayHours: number; onDone(): void }) {
  const client = useQueryClient();
  const stepUp = useStepUp();
  const { data: assets = [] } = useAssets();
  const chains = [...new Set(assets.map(({ chain }) => chain))];
  const form = useForm({
    initialValues: { chain: '', address: '', label: '' },
    validate: {
      chain: (chain) => (chain === '' ? 'Choose a network.' : null),
      address: (address) => (address.trim() === '' ? 'Give an address.' : null),
      label: (label) => (label.trim() === '' ? 'Say whose it is.' : null),
    },
  });
  const add = useMutation({
    mutationFn: (entry: AddAddress) => stepUp(() => quittance.addressBook.add(entry)),
    onSuccess: ({ label, usable_at: at }) => {
      void client.invalidateQueries({ queryKey: ['address-book'] });
      const isUsable = Date.parse(at) <= Date.now();
      notifications.show({ message: `${label} is added${isUsable ? '.' : ', and in force later.'}` });
      onDone();
    },
    onError: (error) => form.setErrors(errorsOf(error)),
  });
  return (
    <form
      onSubmit={form.onSubmit(({ chain, address, label }) =>
        add.mutate({ chain: chain as AddAddress['chain'], address: address.trim(), label: label.trim() }),
      )}
    >
      <Stack>
        <Select
          label="Network"
          description="All assets of the network can be paid there."
          data={chains.map((chain) => ({ value: chain, label: chainNames[chain] ?? chain }))}
          allowDeselect={false}
          required
          data-autofocus
          {...form.getInputProps('chain')}
        />
        <TextInput
          label="Address"
          required
          autoComplete="off"
          spellCheck={false}
          maxLength={255}
          styles={addressInput}
          {...form.getInputProps('address')}
        />
        <TextInput label="Whose it is" required maxLength={255} {...form.getInputProps('label')} />
        <Text size="sm" c="dimmed">
          {delayHours === 0
            ? 'It is in force at once.'
            : `It is in force in ${hours(delayHours)}. An address that is there already only gets the new label.`}
        </Text>
        {add.error !== null && Object.keys(errorsOf(add.error)).length === 0 && <Failure error={add.error} />}
        <Button type="submit" loading={add.isPending}>
          Add
        </Button>
      </Stack>
    </form>
  );
}
