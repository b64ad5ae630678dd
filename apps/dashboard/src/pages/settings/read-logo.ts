import { attempts, fileProblem, fits, within } from './logo.ts';

/** A file cannot be a logo, for a reason that is told to the person. */
export class NoLogo extends Error {}

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
