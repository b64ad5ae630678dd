import { Stack, Text } from '@mantine/core';
import type { Invoice } from '@quittance/client';
import { Copyable } from './copyable.tsx';

/** The API does not say whether it is a sandbox. Those of `npm start` are opened on their own machine. */
const isOwnMachine = (): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(window.location.hostname);

/** How an invoice of a sandbox is paid. */
export function PayInSandbox({ invoice }: { invoice: Invoice }) {
  const { id, asset, assets = [], status } = invoice;
  if (!isOwnMachine() || (status !== 'pending' && status !== 'partially_paid')) return null;
  // Before the choice of the asset the faucet chooses it, as the payer would.
  const choice = asset === null && assets[0] !== undefined ? ` --asset ${assets[0]}` : '';
  return (
    <Stack gap={4}>
      <Text size="sm">In the sandbox, a faucet pays it:</Text>
      <Copyable text={`npm run pay -- ${id}${choice}`} label="Copy the command" />
    </Stack>
  );
}
