import './recovery-codes.css';
import { Alert, Button, Code, CopyButton, Group, Modal, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy, IconPrinter } from '@tabler/icons-react';

/** The recovery codes, which the API tells this once. */
export const RecoveryCodes = ({ codes, onClose }: { codes: string[] | undefined; onClose(): void }) => (
  <Modal
    opened={codes !== undefined}
    onClose={onClose}
    title="Your recovery codes"
    size="lg"
    closeOnClickOutside={false}
    closeOnEscape={false}
    withCloseButton={false}
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
          <CopyButton value={codes.join('\n')}>
            {({ copied, copy }) => (
              <Button
                variant="default"
                leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
                onClick={copy}
              >
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
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
