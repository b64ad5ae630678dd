import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { expectNoSidewaysScroll } from '@quittance/browser/expect-page';
import type { Open } from '@quittance/browser/in-browser';
import { eventually } from '@quittance/testkit/eventually';
import type { Quittance } from '@quittance/testkit/quittance';
import type { OnStack } from '../on-stack.ts';
import { dashboardPerson, openAs } from '../person.ts';

export function notificationCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  beforeAll(async () => {
    quittance = stack();
  });

  /** The mails to an address, as the stack has written them. */
  async function mailsTo(address: string): Promise<string[]> {
    const { mailFolder } = quittance.stack;
    const files = (await readdir(mailFolder)).filter((name) => name.endsWith('.eml'));
    const mails = await Promise.all(files.map((name) => readFile(join(mailFolder, name), 'utf8')));
    return mails.filter((mail) => mail.includes(`To: ${address}`));
  }

  test('an owner adds an address, confirms it by the code in the mail, and sends a test', async () => {
    const person = await dashboardPerson(quittance, await quittance.merchant(), 'Anna');
    const visit = await open(quittance.url, { window: 'phone' });
    const { page } = visit;
    await openAs(visit, quittance, person, '/notifications');
    await page.getByText('Nobody is told by e-mail').waitFor();
    await page.getByRole('button', { name: 'Add an address' }).click();
    await page.getByLabel('E-mail address').fill('till@shop.example');
    await page.getByRole('button', { name: 'Add', exact: true }).click();

    const code = await eventually(async () => {
      const [mail = ''] = await mailsTo('till@shop.example');
      const found = /^Code: (\S+)/m.exec(mail)?.[1];
      expect(found).toBeDefined();
      return String(found);
    });
    await page.getByLabel('Code').fill(code);
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm', exact: true }).click();
    await page.getByText('active', { exact: true }).waitFor();
    await expectNoSidewaysScroll(page);

    await page.getByRole('button', { name: 'Send a test' }).click();
    const link = await eventually(async () => {
      const test = (await mailsTo('till@shop.example')).find((mail) =>
        mail.includes('Subject: This is a test'),
      );
      const found = /^List-Unsubscribe:\s+<(\S+)>/m.exec(test ?? '')?.[1];
      expect(found).toBeDefined();
      return String(found);
    });
    await page.goto(link);
    await page.getByRole('button', { name: 'Stop these e-mails' }).click();
    await page.getByText('The e-mails are stopped').waitFor();
    await page.goto(`${quittance.url}/dashboard/notifications`);
    await page.getByText('unsubscribed', { exact: true }).waitFor();
  });
}
