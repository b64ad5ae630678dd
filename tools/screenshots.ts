import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium, launch } from '@quittance/browser/chromium';
import { contextOptions } from '@quittance/browser/windows';
import { startQuittance } from '@quittance/testkit';

/**
 * npm run screenshots [-- FOLDER]
 *
 * Starts Quittance and takes the pictures of the README and of the documents, into docs/images or into FOLDER.
 */

/** The pictures by their names: of a payment page whose invoice is made of this. */
const PICTURES = {
  choose: { order: { assets: 'all', amount: 25, description: 'A shirt' }, height: 700 },
  pay: { order: { asset: 'ETH', amount: 25, description: 'A shirt' } },
} as const satisfies Record<string, { order: object; height?: number }>;

/** Between a page for phones and one for desktops: sharp enough, and half of the bytes. */
const SCALE = 1.5;

const folder = process.argv[2] ?? join(import.meta.dirname, '../docs/images');
mkdirSync(folder, { recursive: true });
const found = await findChromium();
if ('problem' in found) throw new Error(found.problem);
const [browser, quittance] = await Promise.all([launch(found), startQuittance({ blockEverySeconds: 0 })]);
try {
  const phone = { ...contextOptions({ window: 'phone' }), deviceScaleFactor: SCALE };
  for (const [name, { order, ...cut }] of Object.entries(PICTURES)) {
    const answer = await fetch(`${quittance.url}/api/invoices`, {
      method: 'POST',
      headers: { authorization: `Bearer ${quittance.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
    });
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
    const { data } = (await answer.json()) as { data: { url: string } };
    const page = await browser.newPage(phone);
    await page.goto(data.url);
    const { width } = phone.viewport ?? { width: 0 };
    const clip = 'height' in cut ? { clip: { x: 0, y: 0, width, height: cut.height } } : { fullPage: true };
    await page.screenshot({ path: join(folder, `${name}.png`), ...clip });
    process.stdout.write(`${join(folder, `${name}.png`)}\n`);
    await page.close();
  }
} finally {
  await Promise.all([browser.close(), quittance.stop()]);
}
