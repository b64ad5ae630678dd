import { Box, Select, Text, TextInput } from '@mantine/core';
import { isNotEmpty } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import type { AddAddress, PayoutAddress } from '@quittance/client';
import { IconPlus } from '@tabler/icons-react';
import { quittance } from '../../client.ts';
import { useAssets, usePayoutPolicy } from '../../parts/account-data.ts';
import { ConfirmButton, DialogButton } from '../../parts/dialogs.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { chainNames } from '../../parts/networks.ts';
import { Note, Page, PageLink } from '../../parts/page.tsx';
import { SendForm, useSentForm } from '../../parts/send-form.tsx';
import { type Column, hidden, textColumn, timeColumn } from '../../parts/table.tsx';
import { Address, AddressInput, StateBadge, Time } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { useMay } from '../../session/session.ts';

const columns: readonly Column<PayoutAddress>[] = [
  textColumn('label', 'Whose it is'),
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
  timeColumn('created_at', 'Added', hidden),
];

const actions: Column<PayoutAddress> = {
  id: 'actions',
  title: 'Actions',
  align: 'right',
  render: ({ id, label, address }) => (
    <ConfirmButton
      label="Delete"
      aria-label={`Delete ${label}`}
      title={`Delete ${label}?`}
      size="compact-sm"
      act={() => quittance.addressBook.delete(id)}
      onDone={() => readAgain('address-book')}
    >
      <Address address={address} />
      <Text size="sm" mt="sm">
        It is deleted at once, and payouts that exist stay. When it is added again, it waits again.
      </Text>
    </ConfirmButton>
  ),
};

/** The addresses to which an allow-list lets payouts through. */
export function RoutePage() {
  const mayWrite = useMay('policy:write');
  const { data: policy } = usePayoutPolicy();
  return (
    <Page
      title="Address book"
      actions={
        mayWrite && (
          <DialogButton
            label="Add an address"
            variant="filled"
            leftSection={<IconPlus size={16} />}
            dialogSize="lg"
          >
            {(close) => <AddForm delayHours={policy?.delay_hours ?? 0} onDone={close} />}
          </DialogButton>
        )
      }
    >
      {policy !== undefined && (
        <Note>
          {policy.allow_list
            ? 'Payouts go to these addresses alone; refunds and returned funds go anywhere.'
            : 'The payout policy lets payouts go anywhere: these addresses are for choosing from.'}{' '}
          {policy.delay_hours > 0 &&
            `A new address is in force ${hours(policy.delay_hours)} after it was added, so that somebody with a stolen session cannot pay to it at once.`}{' '}
          <PageLink to="/payout-policy" inherit underline="always">
            Payout policy
          </PageLink>
        </Note>
      )}
      <ListPage<PayoutAddress>
        name="address-book"
        load={(query, options) => quittance.addressBook.list(query, options)}
        columns={mayWrite ? [...columns, actions] : columns}
        empty={{ title: 'No addresses yet', text: 'An address is added for a network, with whose it is.' }}
      />
    </Page>
  );
}

const hours = (count: number): string => (count === 1 ? 'an hour' : `${count} hours`);

function AddForm({ delayHours, onDone }: { delayHours: number; onDone(): void }) {
  const { data: assets = [] } = useAssets();
  const chains = [...new Set(assets.map(({ chain }) => chain))];
  const sent = useSentForm({
    initialValues: { chain: '', address: '', label: '' },
    validate: {
      chain: isNotEmpty('Choose a network.'),
      address: isNotEmpty('Give an address.'),
      label: isNotEmpty('Say whose it is.'),
    },
    send: ({ chain, address, label }) =>
      quittance.addressBook.add({
        chain: chain as AddAddress['chain'],
        address: address.trim(),
        label: label.trim(),
      }),
    onDone: ({ label, usable_at: at }) => {
      const isUsable = Date.parse(at) <= Date.now();
      notifications.show({ message: `${label} is added${isUsable ? '.' : ', and in force later.'}` });
      onDone();
    },
    changes: ['address-book'],
  });
  return (
    <SendForm sent={sent} button="Add">
      <Select
        label="Network"
        description="All assets of the network can be paid there."
        data={chains.map((chain) => ({ value: chain, label: chainNames[chain] ?? chain }))}
        allowDeselect={false}
        required
        data-autofocus
        {...sent.field('chain')}
      />
      <AddressInput {...sent.field('address')} />
      <TextInput label="Whose it is" required maxLength={255} {...sent.field('label')} />
      <Note>
        {delayHours === 0
          ? 'It is in force at once.'
          : `It is in force in ${hours(delayHours)}. An address that is there already only gets the new label.`}
      </Note>
    </SendForm>
  );
}
