import { Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy, IconExternalLink } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { QrCode } from './qr-code.tsx';

type Props = {
  url: string;
  /** What the link leads to: on the buttons, and for those who do not see the code. */
  label: string;
  children?: ReactNode;
};

/** A link to a page for customers: as a code, as a text, to copy and to open. */
export const ShareLink = ({ url, label, children }: Props) => (
  <Group align="flex-start" gap="lg">
    <QrCode text={url} label={`QR code of the ${label}`} size={180} />
    <Stack gap="xs" flex={1} miw={220}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {url}
      </Text>
      <Group gap="xs">
        <CopyButton value={url}>
          {({ copied, copy }) => (
            <Button leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />} onClick={copy}>
              {copied ? 'Copied' : 'Copy link'}
            </Button>
          )}
        </CopyButton>
        <Button
          component="a"
          href={url}
          target="_blank"
          rel="noreferrer"
          variant="default"
          leftSection={<IconExternalLink size={16} />}
        >
          Open
        </Button>
        {children}
      </Group>
    </Stack>
  </Group>
);
