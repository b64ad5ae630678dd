import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type AssetSymbol, Quittance } from '@quittance/client';

/** A pretend shop, in place of yours: of Quittance it knows an address and a token. */
export type Shop = {
  port: number;
  /** What verified webhooks have told, by the id of the invoice or payout: `paid`, `mined`, … */
  statuses: Map<string, string>;
  /** Asks for dollars in an asset: where the customer is to pay, and how much. */
  checkout(asset: AssetSymbol, dollars: number): Promise<{ id: string; address: string; amount: string }>;
  /** Sends money away. @returns the payout's id */
  sendAway(asset: AssetSymbol, amount: string, address: string): Promise<string>;
  balance(asset: AssetSymbol): Promise<string>;
  close(): void;
};

export async function openShop(
  url: string,
  token: string,
  hookUrl: (port: number, path: string) => string,
): Promise<Shop> {
  const quittance = new Quittance({ url, token });
  const statuses = new Map<string, string>();
  let secret: string | undefined;
  async function hear(request: IncomingMessage): Promise<number> {
    const body = await text(request);
    // Nothing can be believed before the secret is known; it is sent again.
    if (secret === undefined) return 503;
    try {
      const { data } = await quittance.webhooks.verify(body, request.headers, secret);
      if ('status' in data) statuses.set(String(data.id), data.status);
      return 200;
    } catch {
      return 401;
    }
  }
  const server = createServer((request, response) => {
    const answer = (status: number) => response.writeHead(status).end();
    hear(request).then(answer, () => answer(500));
  });
  // On all interfaces: with containers, the services are not on this machine.
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = await quittance.webhooks.create({
    url: hookUrl(port, '/hook'),
    events: ['invoice.partially_paid', 'invoice.confirmed', 'invoice.paid', 'payout.completed'],
  });
  secret = endpoint.secret;

  return {
    port,
    statuses,
    async checkout(asset, dollars) {
      const { id, address, amount } = await quittance.invoices.create({ asset, amount: dollars });
      return { id, address: address.address, amount };
    },
    async sendAway(asset, amount, address) {
      return String((await quittance.payouts.create({ asset, amount, address })).id);
    },
    async balance(asset) {
      const balances = await quittance.balances.list();
      return String(balances.find((one) => one.asset.symbol === asset)?.balance ?? '0');
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
