import { Box } from '@mantine/core';
import { encode } from 'uqr';

/** How many light modules are around the code, without which cameras do not find it. */
const BORDER = 4;

/** A text as a QR code: dark on white in both colour schemes, because many cameras read no other. */
export function QrCode({ text, label, size = 200 }: { text: string; label: string; size?: number | string }) {
  const { data, size: modules } = encode(text, { ecc: 'M', border: BORDER });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <Box
      component="svg"
      viewBox={`0 0 ${modules} ${modules}`}
      w={size}
      maw="100%"
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
      style={{ aspectRatio: '1', display: 'block' }}
    >
      <rect width={modules} height={modules} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </Box>
  );
}
