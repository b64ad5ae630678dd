import type { Browser } from 'playwright-core';
import { inBlankPage, pixelsOf } from './blank-page.ts';
import { contextOptions } from './windows.ts';

/** The pictures of the README by their names: of a payment page whose invoice is made of this. */
export const pictures = {
  choose: { order: { assets: 'all', amount: 25, description: 'A shirt' }, height: 700 },
  pay: { order: { asset: 'ETH', amount: 25, description: 'A shirt' }, height: undefined },
} as const satisfies Record<string, { order: object; height: number | undefined }>;

export type PictureName = keyof typeof pictures;

/** Between a page for phones and one for desktops: sharp enough, and half of the bytes. */
const SCALE = 1.5;
/** What is another in each installation, and at each time, is the same in each picture. */
const TAKEN_AT = '2026-01-15T12:00:00.000Z';
const UNTIL = '2026-01-15T13:00:00.000Z';
const ADDRESS = '0xD2Ae0AaBe0EEe6bCE6f7068a74cd59686a1fc4Da';

/** Takes a picture of a page, as a PNG. */
export async function takePicture(browser: Browser, name: PictureName, url: string): Promise<Buffer> {
  const phone = { ...contextOptions({ window: 'phone' }), deviceScaleFactor: SCALE };
  const page = await browser.newPage(phone);
  try {
    await page.clock.setFixedTime(TAKEN_AT);
    await page.route(url, async (route) => {
      const response = await route.fetch();
      const body = (await response.text())
        .replaceAll(/0x[0-9a-fA-F]{40}\b/g, ADDRESS)
        .replaceAll(/ datetime="[^"]+"/g, ` datetime="${UNTIL}"`)
        .replace(/ data-now="[^"]+"/, ` data-now="${TAKEN_AT}"`);
      await route.fulfill({ response, body });
    });
    await page.goto(url);
    const { width } = phone.viewport ?? { width: 0 };
    const { height } = pictures[name];
    return await page.screenshot(
      height === undefined ? { fullPage: true } : { clip: { x: 0, y: 0, width, height } },
    );
  } finally {
    await page.close();
  }
}

/** Of 255: what a reader does not see. */
const CHANNEL_DIFFERENCE_MIN = 16;

/** The share of the pixels that look different in two PNGs, from 0 to 1; 1 also where one is larger. */
export const differingShare = (browser: Browser, one: Buffer, other: Buffer): Promise<number> =>
  inBlankPage<number>(
    browser,
    `Promise.all([${pixelsOf(one)}, ${pixelsOf(other)}]).then(([a, b]) => {
      if (a.width !== b.width || a.height !== b.height) return 1;
      let differing = 0;
      for (let at = 0; at < a.data.length; at += 4)
        if ([0, 1, 2].some((i) => Math.abs(a.data[at + i] - b.data[at + i]) >= ${CHANNEL_DIFFERENCE_MIN})) differing++;
      return differing / (a.width * a.height);
    })`,
  );
