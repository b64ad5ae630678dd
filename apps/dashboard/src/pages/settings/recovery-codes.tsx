import './recovery-codes.css';
import { Alert, Button, Code, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconPrinter } from '@tabler/icons-react';
import { lockedModal } from '../../parts/dialogs.tsx';
import { CopyTextButton } from '../../parts/values.tsx';

/** The recovery codes, which the API tells this once. */
export const RecoveryCodes = ({ codes, onClose }: { codes: string[] | undefined; onClose(): void }) => (
  <Modal
    opened={codes !== undefined}
    onClose={onClose}
    title="Your recovery codes"
    size="lg"
    {...lockedModal(true)}
  >
    {codes !== undefined && (
      <Stack className="recovery-codes">
        <Alert color="yellow">They are shown this once. Former ones are not valid any more.</Alert>
        <Text size="sm">
          Each signs in once in place of a code of the app, when the device is lost. Keep them apart from it.
        </Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          {codes.map((code) => (
            <Code key={code} ta="center" fz="sm">
              {code}
            </Code>
          ))}
        </SimpleGrid>
        <Group>
          <CopyTextButton text={codes.join('\n')} />
          <Button variant="default" leftSection={<IconPrinter size={16} />} onClick={() => window.print()}>
            Print
          </Button>
        </Group>
        <Button onClick={onClose} data-autofocus>
          I have kept them
        </Button>
      </Stack>
    )}
  </Modal>
);
