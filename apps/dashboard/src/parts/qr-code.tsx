import { Box } from '@mantine/core';
import { encode } from 'uqr';

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
