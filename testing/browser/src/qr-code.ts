import type { Locator } from 'playwright-core';
import decode from 'qr/decode.js';

type Image = { width: number; height: number; pixels: string };

/** What a wallet reads from the QR code as it stands on the screen. */
export async function readQrCode(code: Locator): Promise<string> {
  const { width, height, pixels } = await imageOf(code, await code.screenshot());
  const data = Buffer.from(pixels, 'latin1');
  return decode({ width, height, data }, { timeLimit: DECODED_WITHIN_MS });
}

const DECODED_WITHIN_MS = 5_000;

/** The browser reads its own pictures: in a page that is nobody's, whose policy allows it. */
async function imageOf(code: Locator, png: Buffer): Promise<Image> {
  const browser = code.page().context().browser();
  if (browser === null) throw new Error('the page has no browser');
  const blank = await browser.newPage();
  try {
    return await blank.evaluate<Image>(`(async () => {
      const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (character) => character.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes]));
      const { width, height } = image;
      const context = new OffscreenCanvas(width, height).getContext('2d');
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, width, height);
      // As a list, a million numbers would take seconds.
      return { width, height, pixels: Array.from(data, (byte) => String.fromCharCode(byte)).join('') };
    })()`);
  } finally {
    await blank.close();
  }
}
