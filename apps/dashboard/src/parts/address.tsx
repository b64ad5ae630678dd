import { Text, Tooltip } from '@mantine/core';
import { addressParts } from './address-parts.ts';

/** An address with all of its characters: what people compare first stands out. */
export function Address({ address }: { address: string }) {
  const { start, middle, end } = addressParts(address);
  return (
    <Text component="span" ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
      <b>{start}</b>
      <Text component="span" inherit c="dimmed">
        {middle}
      </Text>
      <b>{end}</b>
    </Text>
  );
}

/** How a field looks that an address is typed into. */
export const addressInput = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } };

/** The same in a table. The whole one comes when it is pointed at. */
export function ShortAddress({ address }: { address: string }) {
  const { start, middle, end } = addressParts(address);
  return (
    <Tooltip label={address}>
      <Text component="span" ff="monospace" size="sm" style={{ whiteSpace: 'nowrap' }}>
        {start}
        {middle !== '' && '…'}
        {end}
      </Text>
    </Tooltip>
  );
}
