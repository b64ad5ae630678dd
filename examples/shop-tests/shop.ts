import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A pretend shop, in place of yours: of Quittance it knows an address, a token, and what docs/api.md says. */
export type Shop = {
  port: number;
  /** What verified webhooks have told, by the id of the invoice or payout: `paid`, `mined`, … */
  statuses: Map<string, string>;
  /** Asks for dollars in an asset: where the customer is to pay, and how much. */
  checkout(asset: string, dollars: number): Promise<{ id: string; address: string; amount: string }>;
  /** Sends money away. @returns the payout's id */
  sendAway(asset: string, amount: string, address: string): Promise<string>;
  balance(asset: string): Promise<string>;
  close(): void;
};

type Invoice = { id: string; address: { address: string }; amount: string };
type Balance = { asset: { symbol: string }; balance: string };

export async function openShop(
  api: string,
  token: string,
  hookUrl: (port: number, path: string) => string,
): Promise<Shop> {
  async function call<T>(path: string, body?: object): Promise<T> {
    const response = await fetch(`${api}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { data: T }).data;
  }

  const statuses = new Map<string, string>();
  let webhook: Webhook | undefined;
  async function hear(request: IncomingMessage): Promise<number> {
    const body = await textOf(request);
    // Nothing can be believed before the secret is known; it is sent again.
    if (webhook === undefined) return 503;
    try {
      webhook.verify(body, request.headers as Record<string, string>);
    } catch {
      return 401;
    }
    const { data } = JSON.parse(body);
    statuses.set(data.id, data.status);
    return 200;
  }
  const server = createServer((request, response) => {
    const answer = (status: number) => response.writeHead(status).end();
    hear(request).then(answer, () => answer(500));
  });
  // On all interfaces: with containers, the services are not on this machine.
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  const events = ['invoice.partially_paid', 'invoice.confirmed', 'invoice.paid', 'payout.completed'];
  const endpoint = { url: hookUrl(port, '/hook'), events };
  webhook = new Webhook((await call<{ secret: string }>('/webhooks', endpoint)).secret);

  return {
    port,
    statuses,
    async checkout(asset, dollars) {
      const { id, address, amount } = await call<Invoice>('/invoices', { asset, amount: dollars });
      return { id, address: address.address, amount };
    },
    async sendAway(asset, amount, address) {
      return (await call<{ id: string }>('/payouts', { asset, amount, address })).id;
    },
    async balance(asset) {
      const balances = await call<Balance[]>('/balances');
      return balances.find((one) => one.asset.symbol === asset)?.balance ?? '0';
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
