import { Select, Text } from '@mantine/core';
import { useAddressBook, usePayoutPolicy } from '../../parts/account-data.ts';
import { addressParts } from '../../parts/address-parts.ts';
import { chainOf, networkName } from '../../parts/networks.ts';

type Props = { asset: string; address: string; onChoose(address: string): void };

/** An address of the address book, on the network of an asset. What it shows as chosen is the address that the form has. */
export function BookSelect({ asset, address: chosen, onChoose }: Props) {
  const { data: book = [] } = useAddressBook();
  const { data: policy } = usePayoutPolicy();
  const isListed = policy?.allow_list === true;
  const entries = book.filter(({ chain }) => chain === chainOf(asset));
  if (asset === '' || (entries.length === 0 && !isListed)) return null;
  if (entries.length === 0)
    return (
      <Text size="sm" c="red">
        Payouts go to the address book alone, and it has no address on {networkName(asset)}.
      </Text>
    );
  return (
    <Select
      label="From the address book"
      description={isListed ? 'Payouts go to these addresses alone.' : undefined}
      placeholder="Choose"
      searchable
      clearable
      data={entries.map(({ id, label, address, usable_at: usableAt }) => {
        const { start, end } = addressParts(address);
        const isLater = isListed && Date.parse(usableAt) > Date.now();
        return {
          value: id,
          label: `${label} · ${start}…${end}${isLater ? ' · not usable yet' : ''}`,
          disabled: isLater,
        };
      })}
      value={entries.find(({ address }) => address === chosen.trim())?.id ?? null}
      onChange={(id) => onChoose(entries.find((entry) => entry.id === id)?.address ?? '')}
    />
  );
}
