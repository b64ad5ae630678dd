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

/** A file cannot be a logo, for a reason that is told to the person. */
class NoLogo extends Error {}

/**
 * The data URI of a picture that somebody has chosen, made smaller until the API takes it. Drawing it once more also leaves out what a
 * camera has written into the file.
 * @throws NoLogo
 */
export async function readLogo(file: File): Promise<string> {
  const problem = fileProblem(file);
  if (problem !== undefined) throw new NoLogo(problem);
  const picture = await decoded(file);
  try {
    for (const { box, type, quality } of attempts) {
      const uri = drawn(picture, box, type, quality);
      if (uri !== undefined && fits(uri)) return uri;
    }
  } finally {
    picture.close();
  }
  throw new NoLogo('The picture has too many details to be made small enough. Choose a simpler one.');
}

async function decoded(file: File): Promise<ImageBitmap> {
  try {
    return await createImageBitmap(file);
  } catch (cause) {
    throw new NoLogo('The browser cannot read this picture. Export it once more.', { cause });
  }
}

/** Undefined where the browser does not write this format. */
function drawn(picture: ImageBitmap, box: number, type: string, quality: number): string | undefined {
  const canvas = Object.assign(document.createElement('canvas'), within(picture.width, picture.height, box));
  const context = canvas.getContext('2d');
  if (context === null) throw new NoLogo('The browser cannot draw pictures.');
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const uri = canvas.toDataURL(type, quality);
  return uri.startsWith(`data:${type};`) ? uri : undefined;
}
