import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium, launch } from '@quittance/browser/chromium';
import { type PictureName, pictures, takePicture } from '@quittance/browser/pictures';
import { startQuittance } from '@quittance/testkit';

/**
 * npm run screenshots [-- FOLDER]
 *
 * Starts Quittance and takes the pictures of the README and of the documents, into docs/images or into FOLDER.
 */

const folder = process.argv[2] ?? join(import.meta.dirname, '../docs/images');
mkdirSync(folder, { recursive: true });
const found = await findChromium();
if ('problem' in found) throw new Error(found.problem);
// Those of the tests, which compare the pictures with the pages.
if (!found.hasFonts) process.stderr.write('the pictures are taken with the fonts of this machine\n');
const [browser, quittance] = await Promise.all([launch(found), startQuittance({ blockEverySeconds: 0 })]);
try {
  for (const [name, { order }] of Object.entries(pictures)) {
    const answer = await fetch(`${quittance.url}/api/invoices`, {
      method: 'POST',
      headers: { authorization: `Bearer ${quittance.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
    });
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
    const { data } = (await answer.json()) as { data: { url: string } };
    const file = join(folder, `${name}.png`);
    writeFileSync(file, await takePicture(browser, name as PictureName, data.url));
    process.stdout.write(`${file}\n`);
  }
} finally {
  await Promise.all([browser.close(), quittance.stop()]);
}
