import { Quittance } from '@quittance/client';
import { openShop } from './shop.ts';

/** Opens the shop on this machine. QUITTANCE_URL is that of the sandbox unless it is set; QUITTANCE_TOKEN is needed. */
const { QUITTANCE_URL = 'http://127.0.0.1:8400', QUITTANCE_TOKEN = '', PORT = '3000' } = process.env;
const shop = await openShop({
  quittance: new Quittance({ url: QUITTANCE_URL, token: QUITTANCE_TOKEN }),
  hookUrl: (port, path) => `http://127.0.0.1:${port}${path}`,
  port: Number.parseInt(PORT, 10), // eslint-disable-line no-restricted-syntax -- a port
});
process.stdout.write(`The shop is open: ${shop.url}\n`);
// The endpoint goes with the shop.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void shop.close());
