import type { Browser, Page } from 'playwright-core';

/** One of each browser, which ends with it. */
const blankPages = new WeakMap<Browser, Promise<Page>>();

/** Evaluates an expression in a page that is nobody's, whose policy allows everything: the browser reads its own pictures. */
export async function inBlankPage<T>(browser: Browser, expression: string): Promise<T> {
  const blank = blankPages.get(browser) ?? browser.newPage();
  blankPages.set(browser, blank);
  return await (await blank).evaluate<T>(expression);
}

/** The pixels of a PNG, in an expression for `inBlankPage`: a promise of an `ImageData`. */
export const pixelsOf = (png: Buffer): string => `(async () => {
  const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (character) => character.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, image.width, image.height);
})()`;
