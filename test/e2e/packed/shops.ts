import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

/** What runs where the packages are installed: programs of the documents, and an order that looks at what these leave out. */

/** The first who asks starts it, with what it asks for; the other program is given the same: a start takes longer than most tests. */
const ONE_INSTALLATION = `
import { startQuittance as start } from '@quittance/testkit';
let one;
export const startQuittance = (options) => (one ??= start(options));
`;

const ORDER = `
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebhookVerificationError } from '@quittance/client';

test('an order of the shop', async () => {
  const { token } = await installation.merchant('shop');
  const shop = new Quittance({ url: installation.url, token });
  const told = [];
  let secret;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const event = await shop.webhooks.verify(body, request.headers, secret);
    const forged = await shop.webhooks.verify(body + ' ', request.headers, secret).catch((error) => error);
    told.push({ event: event.event, order: event.data.external_id, forged: forged instanceof WebhookVerificationError });
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  ({ secret } = await shop.webhooks.create({ url: installation.hookUrl(port, '/hook'), events: ['invoice.paid'] }));
  const { id, address, amount } = await shop.invoices.create({ asset: 'ETH', amount: '25', external_id: 'order 7' });
  await installation.pay('ETH', address.address, amount);
  await installation.mine(2);
  for await (const event of shop.events.follow({ after: 0 })) if (event.event === 'invoice.paid') break;
  const { status } = await shop.invoices.retrieve(id);
  const [webhook] = await eventually(() => (told.length > 0 ? told : Promise.reject(new Error('no webhook'))), 20_000, 500);
  const refused = await installation.pay('DOGE', address.address, '1').catch(({ message }) => message);
  const internal = await import('@quittance/testkit/quittance').catch(({ code }) => code);
  const pageOf = async (path) => (await fetch(\`\${installation.url}/docs/\${path}\`)).status;
  const pages = [await pageOf('guides/refunds'), await pageOf('reference')];
  writeFileSync('seen.json', JSON.stringify({ node: process.version, status, webhook, refused, internal, pages }));
  server.close();
  server.closeAllConnections();
});
`;

/**
 * Writes the tests of the example shop and those of `guide`, as they stand but for what Node 20 cannot run, which is types.
 * @param example the folder with the example, as it was installed
 * @returns the file to start in `project`, and how many tests are in it
 */
export function writeShops(
  project: string,
  { example, guide }: { example: string; guide: string },
): { file: string; tests: number } {
  const asInstalled = (file: string) => readFileSync(join(example, file), 'utf8');
  const write = (file: string, code: string) => {
    const written = stripTypeScriptTypes(code)
      .replace("from '@quittance/testkit';", "from '../one-installation.mjs';")
      .replace("from './shop.ts';", "from './shop.mjs';");
    writeFileSync(join(project, file), written);
    return [...code.matchAll(/^ *test\(/gm)].length;
  };
  mkdirSync(join(project, 'shop'));
  writeFileSync(join(project, 'one-installation.mjs'), ONE_INSTALLATION);
  write('shop/shop.mjs', asInstalled('shop.ts'));
  const tests =
    write('shop/example.mjs', asInstalled('shop.test.ts')) + write('shop/guide.mjs', guide + ORDER);
  writeFileSync(
    join(project, 'shops.test.mjs'),
    "import './shop/example.mjs';\nimport './shop/guide.mjs';\n",
  );
  // One of the example's is run for two assets.
  return { file: 'shops.test.mjs', tests: tests + 1 };
}

/** What a strict compiler takes, and what it refuses. */
export const TYPED_SHOP = `
import { type Invoice, Quittance as Client } from '@quittance/client';
import { type Quittance, startQuittance } from '@quittance/testkit';
import { eventually } from '@quittance/testkit/eventually';
const client = new Client({ url: 'https://pay.example', token: undefined });
export const address: Promise<string> = client.invoices
  .create({ asset: 'ETH', amount: '25' })
  .then((invoice) => invoice.address.address);
export async function* paid(): AsyncGenerator<Invoice['paid_amount']> {
  for await (const event of client.events.follow({ after: 0, kinds: ['invoice.paid'] }))
    if (event.event === 'invoice.paid') yield event.data.paid_amount;
}
// @ts-expect-error -- there is no such asset
client.invoices.create({ asset: 'DOGE', amount: '25' });
export const hash: Promise<string> = startQuittance({ chains: ['solana'] })
  .then((quittance: Quittance) => eventually(() => quittance.pay('SOL', 'an address', '1')));
// @ts-expect-error -- a number may lose digits
export const wrong = (quittance: Quittance) => quittance.pay('SOL', 'an address', 1);
`;
