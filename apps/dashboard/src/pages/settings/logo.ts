/* What the API takes as a logo; it decides by the bytes. */

export const LOGO_TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const;
/** As a data URI: about 6 kB of picture. */
const LOGO_CHARACTERS_MAX = 8_192;
/** Nothing larger is read at all. */
const FILE_BYTES_MAX = 10_000_000;

/** Why a file is no logo; undefined: it may be one. */
export function fileProblem({ type, size }: Pick<File, 'type' | 'size'>): string | undefined {
  if (!LOGO_TYPES.some((known) => known === type))
    return 'Choose a PNG, JPEG or WebP. SVG is refused, because it may carry scripts.';
  return size > FILE_BYTES_MAX ? 'The file is larger than 10 MB.' : undefined;
}

export const fits = (uri: string): boolean => uri.length <= LOGO_CHARACTERS_MAX;

/** A width and a height within a box, of the same shape. */
export function within(width: number, height: number, box: number): { width: number; height: number } {
  const scale = Math.min(1, box / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** What is tried until a picture is small enough: how wide it may be, in which format, how good. */
export const attempts = [320, 240, 160, 112, 80, 56].flatMap((box) => [
  { box, type: 'image/png' as const, quality: 1 },
  { box, type: 'image/webp' as const, quality: 0.9 },
  { box, type: 'image/webp' as const, quality: 0.7 },
]);
