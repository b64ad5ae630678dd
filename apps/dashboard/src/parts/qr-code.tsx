import { Box, Group, Stack, Text } from '@mantine/core';
import { encode } from 'uqr';
import { OpenLink } from './page.tsx';
import { CopyTextButton } from './values.tsx';

/** A QR code as a drawing: dark on light in both colour schemes, because cameras want it so. */
export function QrCode({ text, label, size = 220 }: { text: string; label: string; size?: number }) {
  const { data, size: modules } = encode(text, { border: 2 });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <Box w={size} maw="100%">
      <svg
        viewBox={`0 0 ${modules} ${modules}`}
        width="100%"
        role="img"
        aria-label={label}
        shapeRendering="crispEdges"
      >
        <rect width={modules} height={modules} fill="#fff" />
        <path d={dark.join('')} fill="#000" />
      </svg>
    </Box>
  );
}

/** A link to a page for customers: as a code, as a text, to copy and to open. @param label what it leads to */
export const ShareLink = ({ url, label }: { url: string; label: string }) => (
  <Group align="flex-start" gap="lg">
    <QrCode text={url} label={`QR code of the ${label}`} size={180} />
    <Stack gap="xs" flex={1} miw={220}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {url}
      </Text>
      <Group gap="xs">
        <CopyTextButton text={url} label="Copy link" variant="filled" />
        <OpenLink href={url}>Open</OpenLink>
      </Group>
    </Stack>
  </Group>
);
