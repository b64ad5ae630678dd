import { Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import type { PayoutBatch } from '@quittance/client';
import { Amount } from '../../parts/amount.tsx';
import type { BatchNeed } from './batch-needs.tsx';

type Props = {
  isOpened: boolean;
  mode: PayoutBatch['mode'];
  needs: readonly BatchNeed[];
  onClose(): void;
  onSend(): void;
};

/** Asks once more before many payouts are sent. */
export function ConfirmBatch({ isOpened, mode, needs, onClose, onSend }: Props) {
  const count = needs.reduce((before, need) => before + need.count, 0);
  return (
    <Modal opened={isOpened} onClose={onClose} title={`Send ${count} payouts?`}>
      <Stack>
        <List size="sm">
          {needs.map(({ asset, total, count: own }) => (
            <List.Item key={asset}>
              {own} {own === 1 ? 'payout' : 'payouts'}: <Amount value={total} asset={asset} fw={600} /> with
              the network fees of now
            </List.Item>
          ))}
        </List>
        <Text size="sm">
          {mode === 'each'
            ? 'Each line is paid or not by itself.'
            : 'All lines are paid, or none when one of them cannot be.'}{' '}
          Payouts cannot be taken back once they are signed.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Back
          </Button>
          <Button onClick={onSend}>Send {count} payouts</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
