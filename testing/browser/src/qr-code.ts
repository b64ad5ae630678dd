import type { Locator } from 'playwright-core';
import decode from 'qr/decode.js';
import { inBlankPage, pixelsOf } from './blank-page.ts';

type Image = { width: number; height: number; pixels: string };

/** What a wallet reads from the QR code as it stands on the screen. */
export async function readQrCode(code: Locator): Promise<string> {
  const { width, height, pixels } = await imageOf(code, await code.screenshot());
  const data = Buffer.from(pixels, 'latin1');
  return decode({ width, height, data }, { timeLimit: DECODED_WITHIN_MS });
}

const DECODED_WITHIN_MS = 5_000;

async function imageOf(code: Locator, png: Buffer): Promise<Image> {
  const browser = code.page().context().browser();
  if (browser === null) throw new Error('the page has no browser');
  // As a list, a million numbers would take seconds.
  return await inBlankPage<Image>(
    browser,
    `${pixelsOf(png)}.then(({ width, height, data }) => (
      { width, height, pixels: Array.from(data, (byte) => String.fromCharCode(byte)).join('') }
    ))`,
  );
}
