import type { BrowserContextOptions, Page } from 'playwright-core';

const touch = { isMobile: true, hasTouch: true };

/** What pages are looked at with. */
export const windows = {
  /** As wide as an iPhone SE of 2016, and as WCAG's reflow asks for (1.4.10); not as sharp, which takes a quarter of the time. */
  small: { viewport: { width: 320, height: 640 }, ...touch },
  phone: { viewport: { width: 390, height: 844 }, ...touch, deviceScaleFactor: 2 },
  desktop: { viewport: { width: 1280, height: 900 } },
} as const satisfies Record<string, BrowserContextOptions>;

export type WindowName = keyof typeof windows;

export type Look = {
  /** `desktop` when not given. */
  window?: WindowName;
  /** `light` when not given. */
  scheme?: 'light' | 'dark';
  /** What the browser asks for in `Accept-Language`; `en-US` when not given. */
  locale?: string;
  /** False: scripts do not run. */
  javaScript?: boolean;
};

export const contextOptions = ({
  window = 'desktop',
  scheme = 'light',
  locale = 'en-US',
  javaScript = true,
}: Look): BrowserContextOptions => ({
  ...windows[window],
  colorScheme: scheme,
  locale,
  javaScriptEnabled: javaScript,
  timezoneId: 'UTC',
  reducedMotion: 'reduce',
});

/** Looks at a page that is open in another window, by day or by night: a second visit would load it again. */
export async function changeLook(page: Page, { window = 'desktop', scheme = 'light' }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize(windows[window].viewport);
}
